// What is known of all frames that were read so far: how far things go, and how hard they are hit.

import { Box3, Vector3 } from 'three';

import type { Frame } from './recording';

function median(values: number[]): number {
  values.sort((a, b) => a - b);
  return values[values.length >> 1] ?? 0;
}

export class Motion {
  /** Around all that moves, in all frames. */
  readonly travel = new Box3();
  /** N s. */
  largestImpulse = 0;

  /** `boxes`: around each body that moves, as it is turned at first, about its origin. */
  constructor(private readonly boxes: ReadonlyMap<number, Box3>) {}

  add(frame: Frame): void {
    for (const [body, box] of this.boxes) {
      const at = this.place(frame.poses, body);
      if (at !== null) this.travel.union(box.clone().translate(at));
    }
    for (const { impulse } of frame.contacts) this.largestImpulse = Math.max(this.largestImpulse, Math.hypot(...impulse));
  }

  /** Where most of what moves is: one body that flies off does not carry it along. */
  middle(poses: Float64Array): Vector3 {
    const places = [...this.boxes.keys()].map((body) => this.place(poses, body)).filter((at) => at !== null);
    return new Vector3(median(places.map((at) => at.x)), median(places.map((at) => at.y)), median(places.map((at) => at.z)));
  }

  private place(poses: Float64Array, body: number): Vector3 | null {
    const x = poses[7 * body]!;
    return Number.isNaN(x) ? null : new Vector3(x, poses[7 * body + 1]!, poses[7 * body + 2]!);
  }
}
