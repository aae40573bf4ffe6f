// Many small things of one kind: points and arrows, drawn by one call each however many there are.

import {
  type BufferGeometry,
  Color,
  ConeGeometry,
  CylinderGeometry,
  InstancedMesh,
  Matrix4,
  MeshBasicMaterial,
  Quaternion,
  SphereGeometry,
  Vector3,
} from 'three';
import { mergeGeometries } from 'three/addons/utils/BufferGeometryUtils.js';

import type { Vec3 } from './recording';

/** From the origin to (0, 1, 0), about 0.1 thick. */
function arrowGeometry(): BufferGeometry {
  const shaft = new CylinderGeometry(0.02, 0.02, 0.78, 8).translate(0, 0.39, 0);
  const head = new ConeGeometry(0.06, 0.22, 12).translate(0, 0.89, 0);
  return mergeGeometries([shaft, head]);
}

const Y = new Vector3(0, 1, 0);

export class Markers {
  mesh: InstancedMesh;
  private count = 0;
  private readonly matrix = new Matrix4();
  private readonly turn = new Quaternion();
  private readonly place = new Vector3();
  private readonly size = new Vector3();

  constructor(private readonly geometry: BufferGeometry, private readonly material: MeshBasicMaterial, private readonly parent: { add(o: InstancedMesh): void }, name: string) {
    this.mesh = this.make(64);
    this.mesh.name = name;
  }

  static points(parent: Markers['parent'], name: string): Markers {
    return new Markers(new SphereGeometry(1, 12, 8), new MeshBasicMaterial({ depthTest: false, transparent: true }), parent, name);
  }
  static arrows(parent: Markers['parent'], name: string): Markers {
    return new Markers(arrowGeometry(), new MeshBasicMaterial({ depthTest: false, transparent: true }), parent, name);
  }

  private make(capacity: number): InstancedMesh {
    const mesh = new InstancedMesh(this.geometry, this.material, capacity);
    // what is inside changes all the time; on top of what it marks
    mesh.frustumCulled = false;
    mesh.renderOrder = 10;
    mesh.count = 0;
    this.parent.add(mesh);
    return mesh;
  }

  setColor(color: number): void {
    this.material.color = new Color(color);
  }

  clear(): void {
    this.count = 0;
  }

  private push(): void {
    if (this.count >= this.mesh.instanceMatrix.count) {
      // twice as many; what is there already is copied
      const old = this.mesh;
      const mesh = this.make(2 * this.mesh.instanceMatrix.count);
      mesh.name = old.name;
      mesh.visible = old.visible;
      (mesh.instanceMatrix.array as Float32Array).set(old.instanceMatrix.array as Float32Array);
      old.removeFromParent();
      old.dispose();
      this.mesh = mesh;
    }
    this.matrix.compose(this.place, this.turn, this.size);
    this.mesh.setMatrixAt(this.count++, this.matrix);
  }

  point(at: Vec3, radius: number): void {
    this.place.set(...at);
    this.turn.identity();
    this.size.setScalar(radius);
    this.push();
  }

  /** Along `direction` (any length), so long and thick for an arrow of length `width`. */
  arrow(at: Vec3, direction: Vec3, length: number, width: number): void {
    this.place.set(...at);
    this.turn.setFromUnitVectors(Y, this.size.set(...direction).normalize());
    this.size.set(width, length, width);
    this.push();
  }

  /** To be called when all are there. */
  commit(): void {
    this.mesh.count = this.count;
    this.mesh.instanceMatrix.needsUpdate = true;
  }

  get length(): number {
    return this.count;
  }
}
