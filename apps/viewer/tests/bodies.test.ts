import { describe, expect, it } from 'vitest';

import { BodySet, GeometryStore, ghostColor, ghostLook } from '../src/bodies';
import { bodyPoses, followSources, neutral } from '../src/kinematics';
import { bodyNumbers } from '../src/numbers';
import { addFrame, readHeader, type Recording } from '../src/recording';
import { slidersOf } from '../src/sliders';

function recording(extra: object): Recording {
  return readHeader({ format: 'tangere-recording', version: 1, bodies: ['a'], channels: [], ...extra });
}

describe('the tree', () => {
  const turn = Math.SQRT1_2;
  const tree = recording({
    bodies: ['base', 'arm', 'slider', 'wall'],
    links: [
      { kind: 'free', parent: -1, first_q: 0 },
      { kind: 'revolute', parent: 0, first_q: 7, position: [1, 0, 0] },
      // its z is the arm's x
      { kind: 'prismatic', parent: 1, first_q: 8, quaternion: [0, turn, 0, turn] },
      { kind: 'screw', parent: -1, first_q: 9, pitch: 0.5 },
      { kind: 'ball', parent: -1, first_q: 10 },
    ],
    attachments: [{ link: 0 }, { link: 1, position: [1, 0, 0] }, { link: 2 }, { link: -1, position: [0, 0, 5] }],
    coordinates: [
      { name: 'hinge', q: 7 },
      { name: 'slide', q: 8, source: 0, multiplier: 2, offset: 0.1 },
      { name: 'third', q: 9, source: 1, multiplier: -1, offset: 0 },
    ],
  });

  it('is neutral where all quaternions are the identity', () => {
    expect(neutral(tree)).toEqual([0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1]);
  });

  it('moves bodies link by link', () => {
    const q = neutral(tree);
    q[2] = 3; // up
    q[7] = Math.PI / 2; // the arm turns from x to y
    q[8] = 0.5; // along the arm
    const poses = bodyPoses(tree, q);
    const at = (body: number): number[] => [...poses.slice(7 * body, 7 * body + 3)].map((x) => Math.round(x * 1e9) / 1e9 + 0);
    expect(at(0)).toEqual([0, 0, 3]);
    expect(at(1)).toEqual([1, 1, 3]);
    expect(at(2)).toEqual([1, 0.5, 3]);
    expect(at(3)).toEqual([0, 0, 5]);
  });

  it('lets coordinates follow others, also in a chain', () => {
    const q = neutral(tree);
    q[7] = 1;
    followSources(tree, q);
    expect([q[8], q[9]]).toEqual([2.1, -2.1]);
  });

  it('has sliders for what follows nothing, and for turns and places of ball and free joints', () => {
    const sliders = slidersOf(tree);
    expect(sliders.map((slider) => slider.name)).toEqual([
      ...['hinge', 'base x', 'base y', 'base z', 'base yaw', 'base pitch', 'base roll'],
      ...['joint 4 yaw', 'joint 4 pitch', 'joint 4 roll'],
    ]);
    const q = neutral(tree);
    // in whatever order they are put
    const values = [0.4, 1, -1, 0.5, 2.5, -1.2, 3, -3, 1.5, -2];
    for (const i of [9, 3, 7, 0, 5, 8, 1, 4, 2, 6]) sliders[i]!.write(q, values[i]!);
    sliders.forEach((slider, i) => expect(slider.read(q)).toBeCloseTo(values[i]!, 9));
    // yaw alone is a turn about z
    const turned = neutral(tree);
    sliders[4]!.write(turned, 1);
    expect(turned.slice(3, 7).map((x) => Math.round(x * 1e9) / 1e9)).toEqual([0, 0, Math.sin(0.5), Math.cos(0.5)].map((x) => Math.round(x * 1e9) / 1e9));
  });

  it('has no sliders for a heap of free bodies', () => {
    const links = [0, 7, 14, 21, 28].map((first) => ({ kind: 'free', parent: -1, first_q: first }));
    expect(slidersOf(recording({ links }))).toEqual([]);
  });
});

describe('the numbers of a body', () => {
  const spinning = recording({});
  for (let i = 0; i < 4; ++i) {
    const angle = 0.1 * i * 2.5;
    addFrame(spinning, {
      t: 0.1 * i,
      poses: [[0.3 * i, 0, 1, 0, 0, Math.sin(angle / 2), Math.cos(angle / 2)]],
      contacts: [{ bodies: [0, 0], point: [0, 0, 0], normal: [0, 0, 1], impulse: [0, 0, 2] }],
      values: [],
    });
  }

  it('are velocities from the frames around', () => {
    for (const index of [0, 1, 3]) {
      const numbers = bodyNumbers(spinning, index, 0, null);
      expect(numbers.velocity![0]).toBeCloseTo(3, 9);
      expect(numbers.angularVelocity![2]).toBeCloseTo(2.5, 9);
      expect(numbers.position).toEqual([0.3 * index, 0, 1]);
      expect(numbers.contacts).toBe(1);
      expect(numbers.impulse).toEqual([0, 0, 2]);
    }
  });

  it('do not claim velocities for sliders', () => {
    const numbers = bodyNumbers(spinning, 1, 0, new Float64Array([9, 8, 7, 0, 0, 0, 1]));
    expect(numbers.position).toEqual([9, 8, 7]);
    expect(numbers.velocity).toBeNull();
    expect(numbers.contacts).toBe(0);
  });
});

describe('the shapes of bodies', () => {
  const ball = { type: 'sphere', radius: 1 };
  const mixed = recording({
    bodies: ['a', 'b'],
    shapes: [
      { body: 0, role: 'collision', shape: ball },
      { body: 0, role: 'visual', shape: { type: 'box', size: [1, 1, 1] } },
      { body: 1, role: 'both', shape: ball, color: [1, 0, 0, 0.5] },
      { body: 1, shape: { type: 'halfspace', normal: [0, 0, 1] } },
    ],
  });
  const bodies = new BodySet(mixed, new GeometryStore(10, 16));
  const visible = (): boolean[] => bodies.meshes.map((mesh) => mesh.visible);

  it('are drawn by what they are for', () => {
    bodies.setDrawn('visual');
    expect(visible()).toEqual([false, true, true, true]);
    bodies.setDrawn('collision');
    expect(visible()).toEqual([true, false, true, true]);
    bodies.setDrawn('both');
    expect(visible()).toEqual([true, true, true, true]);
  });

  it('share geometries where they are equal', () => {
    expect(bodies.meshes[0]!.geometry).toBe(bodies.meshes[2]!.geometry);
  });

  it('can be seen through, but for planes', () => {
    bodies.setTransparent(true);
    expect(bodies.meshes.map((mesh) => mesh.material.opacity)).toEqual([0.35, 0.35, 0.175, 1]);
    bodies.setTransparent(false);
    bodies.setFaded(new Set([0]));
    expect(bodies.meshes.map((mesh) => mesh.material.opacity)).toEqual([0.35, 0.35, 0.5, 1]);
    bodies.setFaded(new Set());
    expect(bodies.meshes.map((mesh) => mesh.material.transparent)).toEqual([false, false, true, false]);
  });

  it('are absent where their pose is', () => {
    bodies.place(new Float64Array([1, 2, 3, 0, 0, 0, 1, NaN, NaN, NaN, NaN, NaN, NaN, NaN]));
    expect(bodies.groups.map((group) => group.visible)).toEqual([true, false]);
    expect(bodies.groups[0]!.position.toArray()).toEqual([1, 2, 3]);
  });

  it('as ghosts have no planes', () => {
    expect(new BodySet(mixed, new GeometryStore(10, 16), ghostLook(0)).meshes).toHaveLength(3);
  });

  it('as ghosts have the colour of their ghost', () => {
    const colors = [0, 1].map((i) => new BodySet(mixed, new GeometryStore(10, 16), ghostLook(i)).meshes.map((mesh) => `#${mesh.material.color.getHexString()}`));
    expect(colors).toEqual([0, 1].map((i) => Array<string>(3).fill(ghostColor(i))));
    expect(ghostColor(0)).not.toBe(ghostColor(1));
  });
});
