import { BoxGeometry, BufferAttribute, BufferGeometry, SphereGeometry, Vector3 } from 'three';
import { describe, expect, it } from 'vitest';

import { creasedGeometry, outlineGeometry } from '../src/creases';

const CREASE = Math.PI / 6;

function vectors(geometry: BufferGeometry, name: string): Vector3[] {
  const attribute = geometry.getAttribute(name);
  return Array.from({ length: attribute.count }, (_, i) => new Vector3().fromBufferAttribute(attribute, i));
}

/** A fan about one vertex: the slowest there is for whoever compares all triangles at a vertex. */
function cone(numTriangles: number, size: number): BufferGeometry {
  const points = [new Vector3(0, 0, size)];
  const triangles: number[] = [];
  for (let i = 0; i < numTriangles; ++i) {
    const angle = (2 * Math.PI * i) / numTriangles;
    points.push(new Vector3(size * Math.cos(angle), size * Math.sin(angle), 0));
    triangles.push(0, 1 + i, 1 + ((i + 1) % numTriangles));
  }
  return new BufferGeometry().setFromPoints(points).setIndex(triangles);
}

describe.each([1e-6, 4e-3, 1, 1e6])('of a mesh of %d m', (size) => {
  it('a box has flat faces and twelve edges', () => {
    const box = creasedGeometry(new BoxGeometry(size, 2 * size, 3 * size), CREASE);
    for (const normal of vectors(box, 'normal')) expect(normal.toArray().map(Math.abs).sort()).toEqual([0, 0, 1]);
    expect(vectors(outlineGeometry(box, CREASE), 'position')).toHaveLength(2 * 12);
  });

  it('a ball is smooth and has no edges', () => {
    const ball = creasedGeometry(new SphereGeometry(size, 48, 24), CREASE);
    const normals = vectors(ball, 'normal');
    vectors(ball, 'position').forEach((p, i) => expect(p.normalize().dot(normals[i]!)).toBeGreaterThan(0.999));
    expect(vectors(outlineGeometry(ball, CREASE), 'position')).toHaveLength(0);
  });
});

describe('creases', () => {
  it('do not care whether triangles share their vertices', () => {
    const ball = new SphereGeometry(4e-3, 24, 12);
    const shared = vectors(creasedGeometry(ball, CREASE), 'normal');
    vectors(creasedGeometry(ball.toNonIndexed(), CREASE), 'normal').forEach((normal, i) => expect(normal.distanceTo(shared[i]!)).toBeLessThan(1e-6));
  });

  it('are where a surface ends', () => {
    const triangle = new BufferGeometry().setFromPoints([new Vector3(), new Vector3(1, 0, 0), new Vector3(0, 1, 0)]);
    expect(vectors(outlineGeometry(triangle, CREASE), 'position')).toHaveLength(6);
  });

  it('pass over triangles without area', () => {
    const geometry = new BufferGeometry();
    geometry.setAttribute('position', new BufferAttribute(new Float32Array([0, 0, 0, 1, 0, 0, 0, 1, 0, 2, 0, 0]), 3));
    geometry.setIndex([0, 1, 2, 0, 1, 3, 1, 1, 2]);
    expect(vectors(creasedGeometry(geometry, CREASE), 'normal').flatMap((n) => n.toArray())).not.toContain(NaN);
    expect(() => outlineGeometry(geometry, CREASE)).not.toThrow();
    expect(() => creasedGeometry(new BufferGeometry().setFromPoints([]).setIndex([]), CREASE)).not.toThrow();
  });

  it('of many triangles at one vertex are found', () => {
    // of each pair at the vertex: minutes, which the runner does not wait for
    const geometry = creasedGeometry(cone(40_000, 4e-3), CREASE);
    expect(vectors(geometry, 'normal').every((n) => Math.abs(n.length() - 1) < 1e-6)).toBe(true);
  });
});
