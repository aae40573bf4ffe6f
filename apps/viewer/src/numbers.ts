// What a body's numbers are at a frame.

import { Quaternion, Vector3 } from 'three';

import type { Frame, Recording, Vec3 } from './recording';

export interface BodyNumbers {
  position: Vec3;
  /** x y z w. */
  quaternion: [number, number, number, number];
  /** World axes, by the difference of the frames around this one; null where there is only one. */
  velocity: Vec3 | null;
  angularVelocity: Vec3 | null;
  contacts: number;
  /** The sum on the body, N s. */
  impulse: Vec3;
}

function pose(poses: Float64Array, body: number): { p: Vector3; r: Quaternion } {
  const at = 7 * body;
  return {
    p: new Vector3(poses[at]!, poses[at + 1]!, poses[at + 2]!),
    r: new Quaternion(poses[at + 3]!, poses[at + 4]!, poses[at + 5]!, poses[at + 6]!),
  };
}

/** From one frame to another: R_2 R_1ᵀ = exp(ω dt). */
function velocities(from: Frame, to: Frame, body: number): { linear: Vec3; angular: Vec3 } | null {
  const a = pose(from.poses, body);
  const b = pose(to.poses, body);
  if (Number.isNaN(a.p.x) || Number.isNaN(b.p.x)) return null;
  const dt = to.t - from.t;
  const linear = b.p.clone().sub(a.p).divideScalar(dt);
  const turn = b.r.clone().multiply(a.r.clone().invert());
  const sine = Math.hypot(turn.x, turn.y, turn.z);
  const angle = 2 * Math.atan2(sine, Math.abs(turn.w)) * Math.sign(turn.w || 1);
  const factor = sine > 0 ? angle / (sine * dt) : 0;
  return { linear: linear.toArray(), angular: [turn.x * factor, turn.y * factor, turn.z * factor] };
}

export function bodyNumbers(recording: Recording, index: number, body: number, poses: Float64Array | null): BodyNumbers {
  const frame = recording.frames[index]!;
  const shown = pose(poses ?? frame.poses, body);
  const before = recording.frames[index - 1] ?? frame;
  const after = recording.frames[index + 1] ?? frame;
  const moving = poses === null && after !== before ? velocities(before, after, body) : null;
  const impulse = new Vector3();
  let contacts = 0;
  for (const contact of poses === null ? frame.contacts : []) {
    const sign = contact.bodies[1] === body ? 1 : contact.bodies[0] === body ? -1 : 0;
    if (sign === 0) continue;
    ++contacts;
    impulse.addScaledVector(new Vector3(...contact.impulse), sign);
  }
  return {
    position: shown.p.toArray(),
    quaternion: shown.r.toArray() as BodyNumbers['quaternion'],
    velocity: moving?.linear ?? null,
    angularVelocity: moving?.angular ?? null,
    contacts,
    impulse: impulse.toArray(),
  };
}
