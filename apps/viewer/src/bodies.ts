// The bodies of a recording as objects of the scene: one group a body, one mesh a shape, moved by seven numbers each.

import {
  BufferGeometry,
  DoubleSide,
  FrontSide,
  Group,
  LineBasicMaterial,
  LineSegments,
  Mesh,
  MeshLambertMaterial,
  type Material,
} from 'three';

import { outlineGeometry } from './creases';
import type { Recording, ShapeEntry, ShapeRole } from './recording';
import { shapeGeometry } from './shapes';

export type Drawn = 'visual' | 'collision' | 'both';

export interface ShapeMesh extends Mesh<BufferGeometry, MeshLambertMaterial> {
  userData: { body: number; role: ShapeRole; entry: ShapeEntry; opacity: number; plane: boolean };
}

/** Outlines run along edges where a surface bends by more than this. */
const SHARP = (25 * Math.PI) / 180;

/** Files that give no colour get a grey that tells nothing apart: such bodies take turns with these. */
const BODY_COLORS = ['#6f9bd8', '#e0a75e', '#7fbf9a', '#d98383', '#a993d6', '#6dbcc4', '#c9b85f', '#d08fb8'];

/** Of ghosts, in turn: which is which is told by nothing else. */
const GHOST_COLORS = ['#4da3ff', '#ffb454', '#3ddc97', '#ff5c6c', '#b48cff', '#35c9d4', '#e6d455', '#ff8fd0'];

export function ghostColor(index: number): string {
  return GHOST_COLORS[index % GHOST_COLORS.length]!;
}

/** How a set of bodies looks. */
export interface Look {
  /** On top of the shapes' own. */
  opacity: number;
  /** Half-spaces too. */
  planes: boolean;
  /** In place of the shapes' own colours; null: those. */
  tint: string | null;
}

export const SOLID: Look = { opacity: 1, planes: true, tint: null };

export function ghostLook(index: number): Look {
  return { opacity: 0.22, planes: false, tint: ghostColor(index) };
}

function isDefaultColor(color: ShapeEntry['color']): boolean {
  return color[0] === 0.7 && color[1] === 0.7 && color[2] === 0.7;
}

function isDrawn(role: ShapeRole, drawn: Drawn): boolean {
  return drawn === 'both' || role === 'both' || role === drawn;
}

function isPlane(entry: ShapeEntry): boolean {
  return entry.shape.type === 'halfspace' && entry.mesh === null;
}

/** Geometries that equal shapes share. */
export class GeometryStore {
  private readonly known = new Map<string, BufferGeometry>();
  private readonly planes = new Map<string, BufferGeometry>();
  private readonly ofMesh = new Map<object, BufferGeometry>();

  constructor(private planeSize: number, private readonly round: number) {}

  get(entry: ShapeEntry, place: string): BufferGeometry {
    if (entry.mesh !== null) return this.shared(this.ofMesh, entry.mesh, entry, place);
    return this.shared(isPlane(entry) ? this.planes : this.known, JSON.stringify(entry.shape), entry, place);
  }

  private shared<Key>(known: Map<Key, BufferGeometry>, key: Key, entry: ShapeEntry, place: string): BufferGeometry {
    const geometry = known.get(key) ?? shapeGeometry(entry, place, this.planeSize, this.round);
    known.set(key, geometry);
    return geometry;
  }

  /** From now on; planes that were given out are no more. */
  resizePlanes(size: number): void {
    this.planeSize = size;
    for (const geometry of this.planes.values()) geometry.dispose();
    this.planes.clear();
  }

  dispose(): void {
    for (const geometry of [...this.known.values(), ...this.planes.values(), ...this.ofMesh.values()]) geometry.dispose();
  }
}

export class BodySet {
  readonly root = new Group();
  readonly groups: Group[] = [];
  readonly meshes: ShapeMesh[] = [];
  private outlines: LineSegments[] = [];
  private transparent = false;
  private faded = new Set<number>();
  private readonly outlineMaterial = new LineBasicMaterial();

  constructor(recording: Recording, geometries: GeometryStore, private readonly look: Look = SOLID) {
    for (const name of recording.bodies) {
      const group = new Group();
      group.name = name;
      this.groups.push(group);
      this.root.add(group);
    }
    recording.shapes.forEach((entry, i) => {
      const plane = isPlane(entry);
      if (plane && !look.planes) return;
      const mesh = this.makeMesh(recording, entry, geometries.get(entry, `shapes[${i}]`), plane);
      this.meshes.push(mesh);
      this.groups[entry.body]!.add(mesh);
    });
    this.setTransparent(false);
  }

  private makeMesh(recording: Recording, entry: ShapeEntry, geometry: BufferGeometry, plane: boolean): ShapeMesh {
    const [r, g, b, a] = entry.color;
    const moving = (recording.attachments[entry.body]?.link ?? 0) >= 0;
    const material = new MeshLambertMaterial({ side: plane || entry.mesh !== null ? DoubleSide : FrontSide });
    if (this.look.tint !== null) {
      material.color.setStyle(this.look.tint);
      // a little behind: where both are at one place the body is seen, not a mixture of both
      material.polygonOffset = true;
      material.polygonOffsetFactor = material.polygonOffsetUnits = 1;
    } else if (isDefaultColor(entry.color) && moving) material.color.setStyle(BODY_COLORS[entry.body % BODY_COLORS.length]!);
    else material.color.setRGB(r, g, b, 'srgb');
    const mesh = new Mesh(geometry, material) as unknown as ShapeMesh;
    mesh.userData = { body: entry.body, role: entry.role, entry, opacity: a, plane };
    mesh.position.set(...entry.position);
    mesh.quaternion.set(...entry.quaternion);
    mesh.castShadow = !plane && this.look.opacity === 1;
    mesh.receiveShadow = this.look.opacity === 1;
    return mesh;
  }

  /** With those that the store makes now. */
  replacePlanes(geometries: GeometryStore): void {
    for (const mesh of this.meshes) if (mesh.userData.plane) mesh.geometry = geometries.get(mesh.userData.entry, 'plane');
  }

  /** Poses as in frames. */
  place(poses: Float64Array): void {
    for (let b = 0; b < this.groups.length; ++b) {
      const group = this.groups[b]!;
      const at = 7 * b;
      group.visible = !Number.isNaN(poses[at]!);
      if (!group.visible) continue;
      group.position.set(poses[at]!, poses[at + 1]!, poses[at + 2]!);
      group.quaternion.set(poses[at + 3]!, poses[at + 4]!, poses[at + 5]!, poses[at + 6]!);
    }
  }

  setDrawn(drawn: Drawn): void {
    for (const mesh of this.meshes) mesh.visible = isDrawn(mesh.userData.role, drawn);
  }

  setTransparent(on: boolean): void {
    this.transparent = on;
    this.updateOpacity();
  }

  /** Bodies that are to be seen through whatever else is. */
  setFaded(bodies: Set<number>): void {
    if (bodies.size === 0 && this.faded.size === 0) return;
    this.faded = bodies;
    this.updateOpacity();
  }

  private updateOpacity(): void {
    for (const mesh of this.meshes) {
      const { opacity, plane, body } = mesh.userData;
      const material = mesh.material;
      const through = (this.transparent || this.faded.has(body)) && !plane;
      material.opacity = opacity * this.look.opacity * (through ? 0.35 : 1);
      material.transparent = material.opacity < 1;
      material.depthWrite = material.opacity > 0.6;
      material.needsUpdate = true;
    }
  }

  /** Edges around the shapes of one body (-1: none). */
  highlight(body: number, color: number): void {
    for (const outline of this.outlines) {
      outline.removeFromParent();
      outline.geometry.dispose();
    }
    this.outlines = [];
    this.outlineMaterial.color.setHex(color);
    for (const mesh of this.meshes) {
      const chosen = mesh.userData.body === body;
      mesh.material.emissive.setHex(chosen ? color : 0);
      mesh.material.emissiveIntensity = 0.12;
      if (!chosen || mesh.userData.plane) continue;
      const outline = new LineSegments(outlineGeometry(mesh.geometry, SHARP), this.outlineMaterial);
      mesh.add(outline);
      this.outlines.push(outline);
    }
  }

  dispose(): void {
    for (const mesh of this.meshes) (mesh.material as Material).dispose();
    this.root.removeFromParent();
  }
}
