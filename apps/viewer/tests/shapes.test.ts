// Drawn shapes against their support functions: how far they reach in a direction.

import { Vector3, type BufferGeometry } from 'three';
import { describe, expect, it } from 'vitest';

import { GeometryStore } from '../src/bodies';
import type { ShapeEntry } from '../src/recording';
import { checkShape } from '../src/shape_check';
import { shapeGeometry } from '../src/shapes';

function entry(shape: ShapeEntry['shape'], mesh: ShapeEntry['mesh'] = null): ShapeEntry {
  return { body: 0, name: '', role: 'both', shape, mesh, color: [1, 1, 1, 1], position: [0, 0, 0], quaternion: [0, 0, 0, 1] };
}

function reach(geometry: BufferGeometry, d: Vector3): number {
  const positions = geometry.getAttribute('position');
  const p = new Vector3();
  let most = -Infinity;
  for (let i = 0; i < positions.count; ++i) most = Math.max(most, p.fromBufferAttribute(positions, i).dot(d));
  return most;
}

/** Spread over the sphere. */
const DIRECTIONS = Array.from({ length: 200 }, (_, i) => {
  const z = 1 - (2 * i + 1) / 200;
  const angle = i * Math.PI * (3 - Math.sqrt(5));
  return new Vector3(Math.sqrt(1 - z * z) * Math.cos(angle), Math.sqrt(1 - z * z) * Math.sin(angle), z);
}).concat([new Vector3(1, 0, 0), new Vector3(-1, 0, 0), new Vector3(0, 1, 0), new Vector3(0, 0, -1)]);

const across = (d: Vector3): number => Math.hypot(d.y, d.z);

const SUPPORTS: [string, ShapeEntry['shape'], (d: Vector3) => number][] = [
  ['sphere', { type: 'sphere', radius: 0.7 }, () => 0.7],
  ['box', { type: 'box', size: [1, 2, 3] }, (d) => 0.5 * Math.abs(d.x) + Math.abs(d.y) + 1.5 * Math.abs(d.z)],
  ['capsule', { type: 'capsule', radius: 0.3, length: 2 }, (d) => Math.abs(d.x) + 0.3],
  ['cylinder', { type: 'cylinder', radius: 0.4, length: 1 }, (d) => 0.5 * Math.abs(d.x) + 0.4 * across(d)],
  ['cone', { type: 'cone', height: 2, half_angle: 0.4 }, (d) => Math.max(-1.5 * d.x, 0.5 * d.x + 2 * Math.tan(0.4) * across(d))],
  ['ellipsoid', { type: 'ellipsoid', semi_axes: [0.5, 1, 2] }, (d) => Math.hypot(0.5 * d.x, d.y, 2 * d.z)],
];

describe('drawn shapes', () => {
  it.each(SUPPORTS)('a %s reaches as far as it should', (_, shape, support) => {
    const geometry = shapeGeometry(entry(shape), 'shapes[0]', 10);
    const size = Math.max(...DIRECTIONS.map(support));
    for (const d of DIRECTIONS) {
      // inside, and nearly on the surface: 48 points on a circle
      expect(reach(geometry, d)).toBeLessThan(support(d) + 1e-6 * size);
      expect(reach(geometry, d)).toBeGreaterThan(support(d) - 0.006 * size);
    }
    // along the axes to the last bit that floats have
    for (const d of DIRECTIONS.slice(200)) expect(reach(geometry, d)).toBeCloseTo(support(d), 6);
  });

  it('a mesh is what it is', () => {
    const mesh = { vertices: [0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3], triangles: [0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3] };
    const geometry = shapeGeometry(entry({ type: 'minkowski_sum' }, mesh), 'shapes[0]', 10);
    expect([new Vector3(1, 0, 0), new Vector3(0, 1, 0), new Vector3(0, 0, 1)].map((d) => reach(geometry, d))).toEqual([1, 2, 3]);
  });

  it('a mesh is drawn whatever the shape, and does not stand for others', () => {
    const mesh = { vertices: [0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3], triangles: [0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3] };
    const geometries = new GeometryStore(10, 16);
    const ball = geometries.get(entry({ type: 'sphere', radius: 5 }, mesh), 'shapes[0]');
    expect(reach(ball, new Vector3(0, 0, 1))).toBe(3);
    expect(reach(geometries.get(entry({ type: 'sphere', radius: 5 }), 'shapes[1]'), new Vector3(0, 0, 1))).toBeCloseTo(5, 6);
    expect(reach(geometries.get(entry({ type: 'mesh' }, mesh), 'shapes[2]'), new Vector3(0, 0, 1))).toBe(3);
  });

  it('at the bound is drawn', () => {
    expect(() => shapeGeometry(entry({ type: 'sphere', radius: 1e9 }), 'shapes[0]', 10)).not.toThrow();
  });

  it('a half-space is a disc on its plane', () => {
    const geometry = shapeGeometry(entry({ type: 'halfspace', normal: [0, 3, 4], offset: 10 }), 'shapes[0]', 7);
    const normal = new Vector3(0, 0.6, 0.8);
    const positions = geometry.getAttribute('position');
    const p = new Vector3();
    for (let i = 0; i < positions.count; ++i) expect(p.fromBufferAttribute(positions, i).dot(normal)).toBeCloseTo(2, 5);
    expect(reach(geometry, new Vector3(1, 0, 0))).toBeCloseTo(7, 2);
    // it faces out
    expect(new Vector3().fromBufferAttribute(geometry.getAttribute('normal'), 0).dot(normal)).toBeCloseTo(1, 5);
  });

  it.each([
    [{ type: 'ellipsoid', P: [] }, /shapes\[3\]: a shape of type 'ellipsoid' needs a mesh/],
    [{ type: 'polytope', A: [], b: [] }, /shapes\[3\]: a shape of type 'polytope' needs a mesh/],
    [{ type: 'mesh' }, /'mesh' needs a mesh/],
    [{ type: 'sphere', radius: 1e30 }, /shapes\[3\]\.shape: must not reach further than 1e\+9 m/],
    [{ type: 'cone', height: 1, half_angle: Math.PI / 2 - 1e-10 }, /must not reach further/],
    [{ type: 'box', size: [1, 1e30, 1] }, /must not reach further/],
    [{ type: 'halfspace', normal: [0, 0, 1e-3], offset: 1e8 }, /must not reach further/],
  ])('%j is not drawn', (shape, message) => {
    expect(() => shapeGeometry(entry(shape as ShapeEntry['shape']), 'shapes[3]', 10)).toThrow(message);
  });

  it.each([
    [{}, 'type', 'must be a string, got nothing'],
    [{ type: 'teapot' }, 'type', "unknown shape type 'teapot'; known: sphere, box"],
    [{ type: 'toString' }, 'type', 'unknown shape type'],
    [{ type: 'sphere' }, 'radius', 'must be a number, got nothing'],
    [{ type: 'sphere', radius: -1 }, 'radius', 'must be above 0, got -1'],
    [{ type: 'sphere', radius: 1e-31 }, 'radius', 'must be between 1e-30 and 1e+30, got 1e-31'],
    [{ type: 'sphere', radius: 1, colour: 3 }, 'colour', 'unknown field; known: type, radius'],
    [{ type: 'box', size: [1, 0, 1] }, 'size[1]', 'must be above 0, got 0'],
    [{ type: 'box', size: [1, 1] }, 'size', 'must be 3 numbers, got 2'],
    [{ type: 'capsule', radius: 1, length: 0 }, 'length', 'must be above 0'],
    [{ type: 'capsule', radius: 1, length: -1 }, 'length', 'must be above 0'],
    [{ type: 'cylinder', radius: 1, length: -1 }, 'length', 'must be above 0'],
    [{ type: 'cone', height: -1, half_angle: 1 }, 'height', 'must be above 0'],
    [{ type: 'cone', height: 1, half_angle: Math.PI / 2 }, 'half_angle', 'must be between 0 and pi/2'],
    [{ type: 'cone', height: 1, half_angle: 2 }, 'half_angle', 'must be between 0 and pi/2, got 2'],
    [{ type: 'ellipsoid', semi_axes: [1, -1, 1] }, 'semi_axes[1]', 'must be above 0'],
    [{ type: 'ellipsoid' }, '', 'must have either semi_axes or P'],
    [{ type: 'polytope' }, '', 'must have either A and b, or vertices'],
    [{ type: 'polytope', A: [] }, 'b', 'must be an array, got nothing'],
    [{ type: 'rounded_polytope', vertices: [], radius: 0 }, 'radius', 'must be above 0'],
    [{ type: 'padded_polygon', C: [], d: [], radius: -1 }, 'radius', 'must be above 0'],
    [{ type: 'halfspace', normal: [0, 0, 0] }, 'normal', 'must not be zero'],
    [{ type: 'minkowski_sum', parts: [] }, 'parts', 'must not be empty'],
    [{ type: 'bundle', parts: [{ shape: { type: 'sphere', radius: 0 } }] }, 'parts[0].shape.radius', 'must be above 0'],
  ])('%j is no shape', (shape, field, message) => {
    expect(() => checkShape(shape, 'shape')).toThrow(`shape${field === '' ? '' : '.'}${field}: ${message}`);
  });
});
