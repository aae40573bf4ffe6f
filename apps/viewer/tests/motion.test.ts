import { Box3, Vector3 } from 'three';
import { describe, expect, it } from 'vitest';

import { Grid } from '../src/grid';
import { Motion } from '../src/motion';
import type { Frame } from '../src/recording';

function frame(places: (number[] | null)[], impulse = 0): Frame {
  const poses = new Float64Array(places.flatMap((at) => (at === null ? Array<number>(7).fill(NaN) : [...at, 0, 0, 0, 1])));
  const contacts: Frame['contacts'] = [{ bodies: [0, 1], type: '', point: [0, 0, 0], normal: [0, 0, 1], impulse: [0, 0, impulse], distance: null }];
  return { t: 0, poses, q: null, v: null, contacts, pairs: [], values: [] };
}

function cube(half: number): Box3 {
  return new Box3(new Vector3(-half, -half, -half), new Vector3(half, half, half));
}

describe('motion', () => {
  it('is what all frames need, of bodies that move', () => {
    const motion = new Motion(new Map([[1, cube(0.5)], [2, cube(1)]]));
    expect(motion.travel.isEmpty()).toBe(true);
    motion.add(frame([[-900, 0, 0], [0, 0, 0], null], 3));
    motion.add(frame([[-900, 0, 0], [10, 0, 0], [0, 5, 0]], 1));
    expect(motion.travel).toEqual(new Box3(new Vector3(-1, -0.5, -1), new Vector3(10.5, 6, 1)));
    expect(motion.largestImpulse).toBe(3);
  });

  it('has a middle that one body alone does not move', () => {
    const motion = new Motion(new Map([0, 1, 2].map((body) => [body, cube(1)])));
    expect(motion.middle(frame([[0, 0, 0], [1, 2, 0], [1e6, 1, 9]]).poses).toArray()).toEqual([1, 1, 0]);
    expect(motion.middle(frame([null, null, null]).poses).toArray()).toEqual([0, 0, 0]);
  });
});

describe('the grid', () => {
  it('stays on its plane and its lines on theirs, wherever it is', () => {
    const normal = new Vector3(0, 0.6, 0.8);
    const grid = new Grid(1, new Vector3(0, 0, 2), normal);
    grid.centre(new Vector3(0, 0, 2));
    const start = grid.lines.position.clone();
    grid.centre(new Vector3(301.3, 40.2, -7));
    const moved = grid.lines.position.clone().sub(start);
    expect(moved.dot(normal)).toBeCloseTo(0, 9);
    // whole squares of 0.5 m
    const local = moved.applyQuaternion(grid.lines.quaternion.clone().invert());
    for (const x of [local.x, local.z]) expect(2 * x).toBeCloseTo(Math.round(2 * x), 6);
  });
});
