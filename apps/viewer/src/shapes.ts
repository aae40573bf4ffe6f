// Shapes as triangles, with their true dimensions, in their own frames (docs/query.md says what the numbers mean). Those
// that numbers alone do not draw bring a mesh. Their numbers were checked when they were read (shape_check.ts).

import {
  BoxGeometry,
  BufferAttribute,
  BufferGeometry,
  CapsuleGeometry,
  CircleGeometry,
  CylinderGeometry,
  Quaternion,
  SphereGeometry,
  Vector3,
} from 'three';

import { creasedGeometry } from './creases';
import { fail, MOST_COORDINATE } from './json';
import type { Mesh, ShapeEntry, Vec3 } from './recording';

/** Points on a full circle, where there is no reason for fewer. */
export const FINE = 48;
/** Faces that meet at a smaller angle look smooth. */
const CREASE = Math.PI / 6;

function meshGeometry(mesh: Mesh): BufferGeometry {
  const geometry = new BufferGeometry();
  geometry.setAttribute('position', new BufferAttribute(new Float32Array(mesh.vertices), 3));
  geometry.setIndex(mesh.triangles);
  return creasedGeometry(geometry, CREASE);
}

function checkReach(reach: number, place: string): void {
  // rounding to single precision must not refuse what is at the bound
  if (!(Math.abs(reach) <= MOST_COORDINATE * (1 + 1e-6))) fail(place, `must not reach further than ${MOST_COORDINATE.toExponential(0)} m, got ${reach}`);
}

/** Of a half-space, in its frame: the unit normal, and the point of the plane that is nearest to the origin. */
export function planeOf(shape: ShapeEntry['shape'], place: string): { normal: Vector3; foot: Vector3 } {
  const [x, y, z] = shape.normal as Vec3;
  const length = Math.hypot(x, y, z);
  const distance = ((shape.offset ?? 0) as number) / length;
  checkReach(distance, place);
  const normal = new Vector3(x / length, y / length, z / length);
  return { normal, foot: normal.clone().multiplyScalar(distance) };
}

/** A disc on the plane, facing out. */
function halfSpace(shape: ShapeEntry['shape'], place: string, size: number): BufferGeometry {
  const { normal, foot } = planeOf(shape, place);
  const geometry = new CircleGeometry(size, 96);
  geometry.applyQuaternion(new Quaternion().setFromUnitVectors(new Vector3(0, 0, 1), normal));
  return geometry.translate(foot.x, foot.y, foot.z);
}

/** Axes of round shapes run along x here, along y in three.js. */
function alongX(geometry: BufferGeometry): BufferGeometry {
  return geometry.rotateZ(-Math.PI / 2);
}

/** From numbers alone. */
function ownGeometry(entry: ShapeEntry, place: string, round: number): BufferGeometry {
  const { shape } = entry;
  const own = (field: string): number => shape[field] as number;
  switch (shape.type) {
    case 'sphere':
      return new SphereGeometry(own('radius'), round, round / 2);
    case 'box':
      return new BoxGeometry(...(shape.size as Vec3));
    case 'capsule':
      return alongX(new CapsuleGeometry(own('radius'), own('length'), round / 4, round));
    case 'cylinder':
      return alongX(new CylinderGeometry(own('radius'), own('radius'), own('length'), round));
    case 'cone': {
      // apex at -3/4 of the height, base at +1/4
      const height = own('height');
      return alongX(new CylinderGeometry(height * Math.tan(own('half_angle')), 0, height, round)).translate(-height / 4, 0, 0);
    }
    case 'ellipsoid':
      if (shape.semi_axes !== undefined) return new SphereGeometry(1, round, round / 2).scale(...(shape.semi_axes as Vec3));
  }
  fail(place, `a shape of type '${shape.type}' needs a mesh to be drawn`);
}

/** `size`: the radius of the disc that stands for a half-space; `round`: points on a full circle, a multiple of 4. All of
 * them lie on the true surface. A mesh is what is drawn where there is one. */
export function shapeGeometry(entry: ShapeEntry, place: string, size: number, round = FINE): BufferGeometry {
  if (entry.mesh !== null) return meshGeometry(entry.mesh);
  if (entry.shape.type === 'halfspace') return halfSpace(entry.shape, `${place}.shape`, size);
  const geometry = ownGeometry(entry, place, round);
  geometry.computeBoundingBox();
  const { min, max } = geometry.boundingBox!;
  checkReach(Math.max(...max.toArray(), ...min.negate().toArray()), `${place}.shape`);
  geometry.boundingBox = null;
  return geometry;
}
