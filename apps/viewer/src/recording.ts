// Recordings (docs/simulate.md has the schema): what is in them, and how their text is read. The header first, so that
// there is something to see at once; then frames, as many as there is time for. A text that was cut off gives the frames
// that are whole.

import { array, boolean, coordinate, coordinates, fail, InputError, integer, list, number, numbers, object, parse, text, type Json } from './json';
import { checkShape, type Shape } from './shape_check';

export type Vec3 = [number, number, number];
export type Quat = [number, number, number, number];

export interface Placement {
  position: Vec3;
  quaternion: Quat;
}

export interface Mesh {
  vertices: number[];
  triangles: number[];
}

export type ShapeRole = 'collision' | 'visual' | 'both';

export interface ShapeEntry extends Placement {
  body: number;
  name: string;
  role: ShapeRole;
  /** Type and numbers, as in queries; of type `mesh`: only drawn. */
  shape: Shape;
  mesh: Mesh | null;
  color: [number, number, number, number];
}

export interface Link extends Placement {
  kind: 'revolute' | 'prismatic' | 'screw' | 'ball' | 'free';
  parent: number;
  firstQ: number;
  pitch: number;
}

export interface Attachment extends Placement {
  link: number;
}

export interface Coordinate {
  name: string;
  q: number;
  lower: number;
  upper: number;
  /** The coordinate it follows; -1: none. */
  source: number;
  multiplier: number;
  offset: number;
}

export interface Channel {
  name: string;
  unit: string;
}

export interface Contact {
  bodies: [number, number];
  type: string;
  point: Vec3;
  normal: Vec3;
  impulse: Vec3;
  distance: number | null;
}

export interface Pair {
  bodies: [number, number];
  /** null: not asked for. */
  alpha: number | null;
  point: Vec3 | null;
  witnessA: Vec3;
  witnessB: Vec3;
  normal: Vec3;
}

export interface Frame {
  t: number;
  /** Seven numbers a body: position, quaternion x y z w; NaN where the body is absent. */
  poses: Float64Array;
  q: number[] | null;
  v: number[] | null;
  contacts: Contact[];
  pairs: Pair[];
  /** One a channel. */
  values: number[];
}

export interface Ghost {
  name: string;
  t: number[];
  poses: Float64Array[];
}

export interface Stamp {
  program: string;
  command: string;
  seed: string;
  options: [string, string][];
}

export interface Recording {
  name: string;
  timeStep: number;
  /** The axis that is shown upwards, of unit length. */
  up: Vec3;
  madeBy: Stamp;
  bodies: string[];
  shapes: ShapeEntry[];
  links: Link[];
  attachments: Attachment[];
  coordinates: Coordinate[];
  channels: Channel[];
  ghosts: Ghost[];
  frames: Frame[];
  complete: boolean;
}

// the header

const IDENTITY: Quat = [0, 0, 0, 1];

function vec3(value: Json, place: string): Vec3 {
  return numbers(value, place, 3) as Vec3;
}

function point(value: Json, place: string): Vec3 {
  return coordinates(value, place, 3) as Vec3;
}

function unit(q: number[], first: number, place: string): void {
  const length = Math.hypot(q[first]!, q[first + 1]!, q[first + 2]!, q[first + 3]!);
  if (!(Math.abs(length - 1) <= 1e-6)) fail(place, `the quaternion must have unit length, got ${length}`);
}

function placement(entry: Record<string, Json>, place: string): Placement {
  const position = entry.position === undefined ? ([0, 0, 0] as Vec3) : point(entry.position, `${place}.position`);
  if (entry.quaternion === undefined) return { position, quaternion: IDENTITY };
  const quaternion = numbers(entry.quaternion, `${place}.quaternion`, 4) as Quat;
  unit(quaternion, 0, `${place}.quaternion`);
  return { position, quaternion };
}

function mesh(value: Json, place: string): Mesh {
  const entry = object(value, place);
  const vertices = coordinates(entry.vertices, `${place}.vertices`);
  const triangles = numbers(entry.triangles, `${place}.triangles`);
  if (vertices.length % 3 !== 0 || triangles.length % 3 !== 0) fail(place, 'must have three numbers a vertex and a triangle');
  for (let i = 0; i < triangles.length; ++i) integer(triangles[i], `${place}.triangles[${i}]`, 0, vertices.length / 3 - 1);
  return { vertices, triangles };
}

function oneOf<T extends string>(value: Json, place: string, words: readonly T[]): T {
  const word = text(value, place);
  if (!(words as readonly string[]).includes(word)) fail(place, `must be one of ${words.join(', ')}, got '${word}'`);
  return word as T;
}

/** Red, green, blue, opacity. */
function color(value: Json, place: string): ShapeEntry['color'] {
  const all = numbers(value, place, 4) as ShapeEntry['color'];
  if (all.some((part) => part < 0 || part > 1)) fail(place, 'must be four numbers from 0 to 1');
  return all;
}

function shapeEntry(value: Json, place: string, numBodies: number, meshes: Mesh[]): ShapeEntry {
  const entry = object(value, place);
  const given = object(entry.shape, `${place}.shape`) as Shape;
  return {
    body: integer(entry.body, `${place}.body`, 0, numBodies - 1),
    name: entry.name === undefined ? '' : text(entry.name, `${place}.name`),
    role: entry.role === undefined ? 'both' : oneOf(entry.role, `${place}.role`, ['collision', 'visual', 'both'] as const),
    shape: given.type === 'mesh' ? given : checkShape(given, `${place}.shape`),
    mesh: entry.mesh === undefined ? null : meshes[integer(entry.mesh, `${place}.mesh`, 0, meshes.length - 1)]!,
    color: entry.color === undefined ? [0.7, 0.7, 0.7, 1] : color(entry.color, `${place}.color`),
    ...placement(entry, place),
  };
}

/** Where something is in q, of which a link has seven numbers at most. */
function indexInQ(value: Json, place: string, numLinks: number): number {
  if (numLinks === 0) fail(place, 'there are no links');
  return integer(value, place, 0, 7 * numLinks - 1);
}

function link(value: Json, place: string, index: number, numLinks: number): Link {
  const entry = object(value, place);
  return {
    kind: oneOf(entry.kind, `${place}.kind`, ['revolute', 'prismatic', 'screw', 'ball', 'free'] as const),
    // parents come first, so there are no circles
    parent: integer(entry.parent, `${place}.parent`, -1, index - 1),
    firstQ: indexInQ(entry.first_q, `${place}.first_q`, numLinks),
    pitch: entry.pitch === undefined ? 0 : number(entry.pitch, `${place}.pitch`),
    ...placement(entry, place),
  };
}

function slider(value: Json, place: string, numLinks: number, numCoordinates: number): Coordinate {
  const entry = object(value, place);
  const optional = (key: string, otherwise: number): number =>
    entry[key] === undefined ? otherwise : number(entry[key], `${place}.${key}`);
  const follows = entry.source !== undefined;
  const ofSource = (key: string, otherwise: number): number => (follows ? number(entry[key], `${place}.${key}`) : otherwise);
  return {
    name: text(entry.name, `${place}.name`),
    q: indexInQ(entry.q, `${place}.q`, numLinks),
    lower: optional('lower', -Infinity),
    upper: optional('upper', Infinity),
    source: follows ? integer(entry.source, `${place}.source`, 0, numCoordinates - 1) : -1,
    multiplier: ofSource('multiplier', 1),
    offset: ofSource('offset', 0),
  };
}

function poses(value: Json, place: string, numBodies: number): Float64Array {
  const entries = array(value, place);
  if (entries.length !== numBodies) fail(place, `must have one entry a body (${numBodies}), got ${entries.length}`);
  const all = new Float64Array(7 * numBodies);
  for (let b = 0; b < numBodies; ++b) {
    const entry = entries[b];
    if (entry === null) {
      all.fill(NaN, 7 * b, 7 * b + 7);
      continue;
    }
    const pose = numbers(entry, `${place}[${b}]`, 7);
    unit(pose, 3, `${place}[${b}]`);
    for (let i = 0; i < 3; ++i) coordinate(pose[i], `${place}[${b}]`);
    all.set(pose, 7 * b);
  }
  return all;
}

function ghost(value: Json, place: string, numBodies: number): Ghost {
  const entry = object(value, place);
  const t = coordinates(entry.t, `${place}.t`);
  const all = list(entry.poses, `${place}.poses`, (item, where) => poses(item, where, numBodies));
  if (all.length !== t.length || t.length === 0) fail(place, 'must have poses for each of its times, and at least one');
  return { name: text(entry.name, `${place}.name`), t, poses: all };
}

/** Strings and numbers are only shown. */
function label(value: Json, place: string): string {
  if (value === undefined) return '';
  return typeof value === 'number' ? String(value) : text(value, place);
}

const LARGEST_SEED = 2n ** 64n - 1n;

/** Written as text, since numbers here are exact to 2^53 only; files of others may have a number. */
function seedText(value: Json, place: string): string {
  if (value === undefined) return '';
  const digits = label(value, place);
  const whole = typeof value === 'number' ? Number.isInteger(value) && value >= 0 && value <= Number(LARGEST_SEED) : /^\d+$/.test(digits) && BigInt(digits) <= LARGEST_SEED;
  if (!whole) fail(place, `must be a whole number from 0 to ${LARGEST_SEED}, got ${digits}`);
  return typeof value === 'number' && !Number.isSafeInteger(value) ? `about ${digits}` : digits;
}

function stamp(value: Json, place: string): Stamp {
  if (value === undefined) return { program: '', command: '', seed: '', options: [] };
  const entry = object(value, place);
  const options = entry.options === undefined ? {} : object(entry.options, `${place}.options`);
  return {
    program: label(entry.program, `${place}.program`),
    command: label(entry.command, `${place}.command`),
    seed: seedText(entry.seed, `${place}.seed`),
    options: Object.entries(options).map(([name, item]) => [name, label(item, `${place}.options.${name}`)]),
  };
}

function upward(value: Json, place: string): Vec3 {
  const axis = vec3(value, place);
  if (!(Math.abs(Math.hypot(...axis) - 1) <= 1e-6)) fail(place, 'must have unit length');
  return axis;
}

export function readHeader(value: Json): Recording {
  const root = object(value, 'recording');
  if (root.format !== 'tangere-recording') fail('format', 'is not a recording: must be "tangere-recording"');
  if (root.version !== 1) fail('version', `must be 1, got ${String(root.version)}: another program wrote it`);
  const bodies = array(root.bodies, 'bodies').map((item, i) => text(item, `bodies[${i}]`));
  const meshes = list(root.meshes, 'meshes', mesh);
  const numLinks = root.links === undefined ? 0 : array(root.links, 'links').length;
  const recording: Recording = {
    name: root.name === undefined ? '' : text(root.name, 'name'),
    timeStep: root.time_step === undefined ? 0 : number(root.time_step, 'time_step'),
    up: root.up === undefined ? [0, 0, 1] : upward(root.up, 'up'),
    madeBy: stamp(root.made_by, 'made_by'),
    bodies,
    shapes: list(root.shapes, 'shapes', (item, place) => shapeEntry(item, place, bodies.length, meshes)),
    links: list(root.links, 'links', (item, place) => link(item, place, Number(/\[(\d+)\]$/.exec(place)![1]), numLinks)),
    attachments: [],
    coordinates: list(root.coordinates, 'coordinates', (item, place) => slider(item, place, numLinks, (root.coordinates as Json[]).length)),
    channels: list(root.channels, 'channels', (item, place) => {
      const entry = object(item, place);
      return { name: text(entry.name, `${place}.name`), unit: entry.unit === undefined ? '' : text(entry.unit, `${place}.unit`) };
    }),
    ghosts: list(root.ghosts, 'ghosts', (item, place) => ghost(item, place, bodies.length)),
    frames: [],
    complete: false,
  };
  recording.attachments = list(root.attachments, 'attachments', (item, place) => {
    const entry = object(item, place);
    return { link: integer(entry.link, `${place}.link`, -1, recording.links.length - 1), ...placement(entry, place) };
  });
  if (recording.attachments.length > 0 && recording.attachments.length !== bodies.length)
    fail('attachments', `must have one entry a body (${bodies.length})`);
  return recording;
}

// frames

function bodyPair(value: Json, place: string, numBodies: number): [number, number] {
  const two = numbers(value, place, 2);
  return [integer(two[0], `${place}[0]`, 0, numBodies - 1), integer(two[1], `${place}[1]`, 0, numBodies - 1)];
}

function contact(value: Json, place: string, numBodies: number): Contact {
  const entry = object(value, place);
  return {
    bodies: bodyPair(entry.bodies, `${place}.bodies`, numBodies),
    type: entry.type === undefined ? '' : text(entry.type, `${place}.type`),
    point: point(entry.point, `${place}.point`),
    normal: vec3(entry.normal, `${place}.normal`),
    impulse: vec3(entry.impulse, `${place}.impulse`),
    distance: entry.distance === undefined ? null : number(entry.distance, `${place}.distance`),
  };
}

function pair(value: Json, place: string, numBodies: number): Pair {
  const entry = object(value, place);
  const scaled = entry.alpha !== undefined;
  const alpha = scaled ? number(entry.alpha, `${place}.alpha`) : null;
  if (alpha !== null && alpha < 0) fail(`${place}.alpha`, 'must not be negative');
  return {
    bodies: bodyPair(entry.bodies, `${place}.bodies`, numBodies),
    alpha,
    point: scaled ? point(entry.point, `${place}.point`) : null,
    witnessA: point(entry.witness_a, `${place}.witness_a`),
    witnessB: point(entry.witness_b, `${place}.witness_b`),
    normal: vec3(entry.normal, `${place}.normal`),
  };
}

/** How many numbers q must have for the tree. */
function sizeOfQ(recording: Recording): number {
  const own = { free: 7, ball: 4, revolute: 1, prismatic: 1, screw: 1 };
  let size = 0;
  for (const { kind, firstQ } of recording.links) size = Math.max(size, firstQ + own[kind]);
  for (const { q } of recording.coordinates) size = Math.max(size, q + 1);
  return size;
}

/** Enough for the tree, or none. */
function configuration(value: Json, place: string, recording: Recording): number[] | null {
  if (value === undefined) return null;
  const q = coordinates(value, place);
  if (q.length === 0) return null;
  const needed = sizeOfQ(recording);
  if (q.length < needed) fail(place, `must have ${needed} numbers, got ${q.length}`);
  return q;
}

export function addFrame(recording: Recording, value: Json): void {
  const index = recording.frames.length;
  const place = `frames[${index}]`;
  const entry = object(value, place);
  const t = coordinate(entry.t, `${place}.t`);
  const before = recording.frames[index - 1];
  if (before !== undefined && !(t > before.t)) fail(`${place}.t`, `must be later than the frame before it (${before.t} s)`);
  const values = list(entry.values, `${place}.values`, (item, where) => (item === null ? NaN : number(item, where)));
  if (values.length !== recording.channels.length)
    fail(`${place}.values`, `must have one value a channel (${recording.channels.length}), got ${values.length}`);
  const numBodies = recording.bodies.length;
  recording.frames.push({
    t,
    poses: poses(entry.poses, `${place}.poses`, numBodies),
    q: configuration(entry.q, `${place}.q`, recording),
    v: entry.v === undefined ? null : numbers(entry.v, `${place}.v`),
    contacts: list(entry.contacts, `${place}.contacts`, (item, where) => contact(item, where, numBodies)),
    pairs: list(entry.pairs, `${place}.pairs`, (item, where) => pair(item, where, numBodies)),
    values,
  });
}

/** The last frame not later than t; 0 before the first. */
export function frameAt(times: ArrayLike<number>, count: number, t: number): number {
  let low = 0;
  let high = count - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (times[middle]! <= t) low = middle;
    else high = middle - 1;
  }
  return Math.max(0, low);
}

// texts

const FRAMES_LINE = '\n"frames": [\n';

/** A text without the line that begins frames: someone formatted it, or it was cut off before it. */
function parseWhole(source: string): Json {
  try {
    return parse(source, 'the text');
  } catch (error) {
    if (!(error instanceof InputError) || !source.slice(0, 4096).includes('"tangere-recording"')) throw error;
    fail('header', `the file was cut off before its first frame, or is not JSON: ${error.message}`);
  }
}

/** A recording says so itself if it does not come to an end. */
function isComplete(end: Record<string, Json>): boolean {
  return end.complete === undefined || boolean(end.complete, 'complete');
}

/** Reads a text: the header when made, frames by `readSome`. */
export class RecordingReader {
  readonly recording: Recording;
  /** 0 to 1. */
  progress = 0;
  private position = 0;
  private readonly items: Json[] | null;

  private readonly source: string;

  constructor(text: string) {
    // some editors write a mark before the first character
    const source = text.startsWith('\uFEFF') ? text.slice(1) : text;
    this.source = source;
    const headerEnd = source.indexOf(FRAMES_LINE);
    if (headerEnd < 0) {
      // someone formatted it: all at once
      const root = object(parseWhole(source), 'recording');
      this.recording = readHeader(root);
      this.items = array(root.frames, 'frames');
      this.recording.complete = isComplete(root);
    } else {
      this.recording = readHeader(parse(`${source.slice(0, headerEnd)}\n"frames": []}`, 'the header'));
      this.items = null;
      this.position = headerEnd + FRAMES_LINE.length;
    }
  }

  /** Reads frames for about so many milliseconds; at least one. False when there are no more. */
  readSome(milliseconds: number): boolean {
    const end = performance.now() + milliseconds;
    do {
      if (!(this.items === null ? this.readLine() : this.readItem())) {
        this.progress = 1;
        if (this.recording.complete && this.recording.frames.length === 0) fail('frames', 'there are none');
        return false;
      }
    } while (performance.now() < end);
    return true;
  }

  private readItem(): boolean {
    const items = this.items!;
    if (this.position >= items.length) return false;
    addFrame(this.recording, items[this.position++]);
    this.progress = this.position / items.length;
    return true;
  }

  private readLine(): boolean {
    if (this.position >= this.source.length) return false;
    const found = this.source.indexOf('\n', this.position);
    const last = found < 0;
    let line = this.source.slice(this.position, last ? undefined : found);
    this.position = last ? this.source.length : found + 1;
    this.progress = this.position / this.source.length;
    if (line.startsWith(']')) {
      this.recording.complete = this.isEnd(line);
      return false;
    }
    if (line.endsWith(',')) line = line.slice(0, -1);
    if (line === '') return true;
    let value: Json;
    try {
      value = parse(line, `frames[${this.recording.frames.length}]`);
    } catch (error) {
      // cut off while it was written: only the last line can be
      if (last && error instanceof InputError) return false;
      throw error;
    }
    addFrame(this.recording, value);
    return true;
  }

  private isEnd(line: string): boolean {
    if (line !== '],') return line.startsWith(']}');
    let end: Json;
    try {
      end = JSON.parse(`{${this.source.slice(this.position)}`);
    } catch {
      return false;
    }
    return isComplete(object(end, 'recording'));
  }
}
