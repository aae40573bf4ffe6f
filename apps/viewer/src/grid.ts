// A grid without an end: it is always under what is looked at, and moves by whole squares.

import { GridHelper, Quaternion, Vector3 } from 'three';

const Y = new Vector3(0, 1, 0);

export class Grid {
  readonly lines: GridHelper;
  private readonly spacing: number;
  private readonly foot: Vector3;

  /** On the plane through `foot`, with lines at a round distance that suits things of this radius. */
  constructor(radius: number, foot: Vector3, normal: Vector3) {
    const power = 10 ** Math.floor(Math.log10(radius / 2));
    this.spacing = power * [5, 2, 1].find((step) => step * power <= radius / 2)!;
    const half = Math.ceil((6 * radius) / this.spacing);
    this.lines = new GridHelper(2 * half * this.spacing, 2 * half);
    this.lines.quaternion.setFromUnitVectors(Y, normal);
    // a little above the plane, not to be hidden by it
    this.foot = foot.clone().addScaledVector(normal, 1e-3 * radius);
  }

  centre(target: Vector3): void {
    const { quaternion, position } = this.lines;
    const local = target.clone().sub(this.foot).applyQuaternion(new Quaternion().copy(quaternion).invert());
    position.set(Math.round(local.x / this.spacing), 0, Math.round(local.z / this.spacing)).multiplyScalar(this.spacing);
    position.applyQuaternion(quaternion).add(this.foot);
  }

  setColor(color: number): void {
    const { material } = this.lines;
    for (const m of Array.isArray(material) ? material : [material]) {
      m.vertexColors = false;
      m.color.setHex(color);
      m.needsUpdate = true;
    }
  }

  dispose(): void {
    this.lines.removeFromParent();
    this.lines.dispose();
  }
}
