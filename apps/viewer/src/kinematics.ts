// Where bodies are for given coordinates: the tree of a recording, link by link.

import { Quaternion, Vector3 } from 'three';

import type { Link, Placement, Recording } from './recording';

class Pose {
  constructor(readonly p = new Vector3(), readonly r = new Quaternion()) {}

  static of(placement: Placement): Pose {
    return new Pose(new Vector3(...placement.position), new Quaternion(...placement.quaternion));
  }
  times(other: Pose): Pose {
    return new Pose(other.p.clone().applyQuaternion(this.r).add(this.p), this.r.clone().multiply(other.r));
  }
}

const Z = new Vector3(0, 0, 1);

/** A link's axis is z of its frame. */
function motion(link: Link, q: ArrayLike<number>): Pose {
  const at = (k: number): number => q[link.firstQ + k] ?? 0;
  switch (link.kind) {
    case 'revolute':
      return new Pose(undefined, new Quaternion().setFromAxisAngle(Z, at(0)));
    case 'prismatic':
      return new Pose(new Vector3(0, 0, at(0)));
    case 'screw':
      return new Pose(new Vector3(0, 0, link.pitch * at(0)), new Quaternion().setFromAxisAngle(Z, at(0)));
    case 'ball':
      return new Pose(undefined, new Quaternion(at(0), at(1), at(2), at(3)).normalize());
    case 'free':
      return new Pose(new Vector3(at(0), at(1), at(2)), new Quaternion(at(3), at(4), at(5), at(6)).normalize());
  }
}

/** Seven numbers a body, as in frames. */
export function bodyPoses(recording: Recording, q: ArrayLike<number>): Float64Array {
  const links: Pose[] = [];
  for (const link of recording.links) {
    const fixed = Pose.of(link);
    const atZero = link.parent < 0 ? fixed : links[link.parent]!.times(fixed);
    links.push(atZero.times(motion(link, q)));
  }
  const poses = new Float64Array(7 * recording.bodies.length);
  recording.attachments.forEach((attachment, b) => {
    const own = Pose.of(attachment);
    const pose = attachment.link < 0 ? own : links[attachment.link]!.times(own);
    poses.set([pose.p.x, pose.p.y, pose.p.z, pose.r.x, pose.r.y, pose.r.z, pose.r.w], 7 * b);
  });
  return poses;
}

/** All zero, identity quaternions. */
export function neutral(recording: Recording): number[] {
  let size = 0;
  for (const link of recording.links) size = Math.max(size, link.firstQ + (link.kind === 'free' ? 7 : link.kind === 'ball' ? 4 : 1));
  const q = new Array<number>(size).fill(0);
  for (const link of recording.links) {
    if (link.kind === 'free') q[link.firstQ + 6] = 1;
    if (link.kind === 'ball') q[link.firstQ + 3] = 1;
  }
  return q;
}

/** Coordinates that follow others, put where those tell them; a chain is followed to its end. */
export function followSources(recording: Recording, q: number[]): void {
  const value = (index: number, depth: number): number => {
    const entry = recording.coordinates[index]!;
    if (entry.source < 0 || depth > recording.coordinates.length) return q[entry.q] ?? 0;
    return entry.multiplier * value(entry.source, depth + 1) + entry.offset;
  };
  recording.coordinates.forEach((entry, i) => {
    if (entry.source >= 0) q[entry.q] = value(i, 0);
  });
}
