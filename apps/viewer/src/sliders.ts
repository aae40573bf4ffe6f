// What can be moved by hand: coordinates of joints, and the turns and places of ball and free joints.

import { Euler, Quaternion } from 'three';

import { neutral } from './kinematics';
import type { Link, Recording } from './recording';

export interface Slider {
  name: string;
  lower: number;
  upper: number;
  read(q: ArrayLike<number>): number;
  write(q: number[] | Float64Array, value: number): void;
}

/** Where sliders were put by hand. */
export type Moved = Map<Slider, number>;

/** More free bodies than these are a heap of things, not robots: they have no sliders. */
const MOST_FREE = 4;
/** How far a free body can be moved, metres. */
const REACH = 2;
const TURNS = ['z', 'y', 'x'] as const;
const TURN_NAMES = { z: 'yaw', y: 'pitch', x: 'roll' };

function placeSlider(name: string, index: number, lower: number, upper: number): Slider {
  return {
    name,
    lower,
    upper,
    read: (q) => q[index] ?? 0,
    write: (q, value) => {
      q[index] = value;
    },
  };
}

/** Of a quaternion that starts at `first`: one of three turns, about z, then the new y, then the new x. */
function turnSlider(name: string, first: number, turn: (typeof TURNS)[number]): Slider {
  const angles = (q: ArrayLike<number>): Euler => {
    const quaternion = new Quaternion(q[first] ?? 0, q[first + 1] ?? 0, q[first + 2] ?? 0, q[first + 3] ?? 1).normalize();
    return new Euler().setFromQuaternion(quaternion, 'ZYX');
  };
  // just short of where the other two turns become one
  const most = turn === 'y' ? 0.499 * Math.PI : Math.PI;
  return {
    name: `${name} ${TURN_NAMES[turn]}`,
    lower: -most,
    upper: most,
    read: (q) => angles(q)[turn],
    write: (q, value) => {
      const euler = angles(q);
      euler[turn] = value;
      new Quaternion().setFromEuler(euler).toArray(q as number[], first);
    },
  };
}

function linkSliders(link: Link, name: string, start: ArrayLike<number>): Slider[] {
  const turns = (first: number): Slider[] => TURNS.map((turn) => turnSlider(name, first, turn));
  if (link.kind === 'ball') return turns(link.firstQ);
  const places = ['x', 'y', 'z'].map((axis, k) => {
    const middle = start[link.firstQ + k] ?? 0;
    return placeSlider(`${name} ${axis}`, link.firstQ + k, middle - REACH, middle + REACH);
  });
  return [...places, ...turns(link.firstQ + 3)];
}

/** In the order of the recording: single coordinates that follow no other, then ball and free joints. */
export function slidersOf(recording: Recording): Slider[] {
  const sliders = recording.coordinates
    .filter((entry) => entry.source < 0)
    .map((entry) =>
      placeSlider(entry.name, entry.q, Number.isFinite(entry.lower) ? entry.lower : -Math.PI, Number.isFinite(entry.upper) ? entry.upper : Math.PI),
    );
  const start = recording.frames[0]?.q ?? neutral(recording);
  const numFree = recording.links.filter((link) => link.kind === 'free').length;
  recording.links.forEach((link, index) => {
    if (link.kind !== 'ball' && (link.kind !== 'free' || numFree > MOST_FREE)) return;
    const body = recording.attachments.findIndex((attachment) => attachment.link === index);
    sliders.push(...linkSliders(link, recording.bodies[body] ?? `joint ${index}`, start));
  });
  return sliders;
}
