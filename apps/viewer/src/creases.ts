// Which edges of a triangle mesh are sharp: normals are smooth across the others, outlines are drawn along the sharp ones.
// What counts as one vertex is relative to the size of the mesh, so that millimetres look as metres do; all of it takes time
// in proportion to the number of triangles.

import { BufferAttribute, BufferGeometry, Vector3 } from 'three';

/** Vertices that are nearer than this part of the mesh's size are one: rounding parts them where a surface closes. */
const WELD = 1e-5;

/** Triangles by their corners: corner 3 i + k is that of triangle i, and the edge 3 i + k goes from it to the next one. */
interface Corners {
  positions: Vector3[];
  /** Of each corner; corners at one place have the same number. */
  vertices: Int32Array;
  /** Of each triangle, of unit length; zero where it has no area. */
  normals: Vector3[];
  /** Of each edge: the same one of the triangle beside it, run the other way; -1: there is none. */
  twins: Int32Array;
}

function nextCorner(corner: number): number {
  return corner % 3 === 2 ? corner - 2 : corner + 1;
}

function cornerPositions(geometry: BufferGeometry): Vector3[] {
  const position = geometry.getAttribute('position');
  const { index } = geometry;
  const count = index === null ? position.count : index.count;
  return Array.from({ length: count }, (_, i) => new Vector3().fromBufferAttribute(position, index === null ? i : index.getX(i)));
}

function weld(geometry: BufferGeometry, positions: Vector3[]): Int32Array {
  geometry.computeBoundingBox();
  const { min, max } = geometry.boundingBox!;
  const grain = WELD * min.distanceTo(max) || 1;
  const known = new Map<string, number>();
  return Int32Array.from(positions, ({ x, y, z }) => {
    const key = `${Math.round((x - min.x) / grain)},${Math.round((y - min.y) / grain)},${Math.round((z - min.z) / grain)}`;
    const vertex = known.get(key) ?? known.size;
    known.set(key, vertex);
    return vertex;
  });
}

function findTwins(vertices: Int32Array): Int32Array {
  const twins = new Int32Array(vertices.length).fill(-1);
  const open = new Map<number, number>();
  const numVertices = vertices.length;
  for (let edge = 0; edge < vertices.length; ++edge) {
    const from = vertices[edge]!;
    const to = vertices[nextCorner(edge)]!;
    if (from === to) continue;
    const back = to * numVertices + from;
    const twin = open.get(back);
    if (twin === undefined) {
      open.set(from * numVertices + to, edge);
      continue;
    }
    open.delete(back);
    twins[edge] = twin;
    twins[twin] = edge;
  }
  return twins;
}

function cornersOf(geometry: BufferGeometry): Corners {
  const positions = cornerPositions(geometry);
  const vertices = weld(geometry, positions);
  const normals = Array.from({ length: positions.length / 3 }, (_, i) => {
    const [a, b, c] = [positions[3 * i]!, positions[3 * i + 1]!, positions[3 * i + 2]!];
    return new Vector3().crossVectors(b.clone().sub(a), c.clone().sub(a)).normalize();
  });
  return { positions, vertices, normals, twins: findTwins(vertices) };
}

/** By how much the surface bends at an edge; nothing where a triangle without area is beside it. */
function bend(corners: Corners, edge: number): number {
  const here = corners.normals[Math.floor(edge / 3)]!;
  const beside = corners.normals[Math.floor(corners.twins[edge]! / 3)]!;
  return here.lengthSq() === 0 || beside.lengthSq() === 0 ? 0 : here.angleTo(beside);
}

/** Corners at one vertex that can be reached from each other over smooth edges: each knows one that stands for all. */
function smoothGroups(corners: Corners, crease: number): (corner: number) => number {
  const parent = Int32Array.from(corners.vertices, (_, i) => i);
  const find = (corner: number): number => {
    while (parent[corner] !== corner) corner = parent[corner] = parent[parent[corner]!]!;
    return corner;
  };
  corners.twins.forEach((twin, edge) => {
    if (twin < edge || bend(corners, edge) > crease) return;
    // run the other way: each begins where the other ends
    parent[find(edge)] = find(nextCorner(twin));
    parent[find(nextCorner(edge))] = find(twin);
  });
  return find;
}

/** Triangles with corners of their own, whose normals are the mean of those around, weighted by their angles, as far as the
 * surface bends by no more than `crease` from one to the next. */
export function creasedGeometry(geometry: BufferGeometry, crease: number): BufferGeometry {
  const corners = cornersOf(geometry);
  const { positions, normals } = corners;
  const groupOf = smoothGroups(corners, crease);
  const sums = new Map<number, Vector3>();
  positions.forEach((at, corner) => {
    const next = nextCorner(corner);
    const angle = positions[next]!.clone().sub(at).angleTo(positions[nextCorner(next)]!.clone().sub(at));
    const sum = sums.get(groupOf(corner)) ?? new Vector3();
    sums.set(groupOf(corner), sum.addScaledVector(normals[Math.floor(corner / 3)]!, angle));
  });
  for (const sum of sums.values()) sum.normalize();
  const creased = new BufferGeometry();
  const attribute = (vector: (corner: number) => Vector3): BufferAttribute => {
    const values = new Float32Array(3 * positions.length);
    for (let corner = 0; corner < positions.length; ++corner) vector(corner).toArray(values, 3 * corner);
    return new BufferAttribute(values, 3);
  };
  creased.setAttribute('position', attribute((corner) => positions[corner]!));
  creased.setAttribute('normal', attribute((corner) => sums.get(groupOf(corner))!));
  return creased;
}

/** Line segments along the edges where the surface ends or bends by more than `crease`. */
export function outlineGeometry(geometry: BufferGeometry, crease: number): BufferGeometry {
  const corners = cornersOf(geometry);
  const { positions, vertices, twins } = corners;
  const ends: Vector3[] = [];
  twins.forEach((twin, edge) => {
    const next = nextCorner(edge);
    if (vertices[edge] === vertices[next]) return;
    // an edge of two triangles is drawn by the first of them
    if (twin < 0 || (edge < twin && bend(corners, edge) > crease)) ends.push(positions[edge]!, positions[next]!);
  });
  return new BufferGeometry().setFromPoints(ends);
}
