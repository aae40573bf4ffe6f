// What a shape must be to be one (docs/query.md): the same that the command refuses is refused here. Whether the faces of a
// polytope bound anything is not looked at: what is drawn of it is a mesh.

import { array, fail, number, numbers, object, text, type Json } from './json';

/** Sizes beyond these leave no room for their squares. */
const SMALLEST = 1e-30;
const LARGEST = 1e30;

export type Shape = Record<string, Json> & { type: string };

type Check = (shape: Shape, place: string) => void;

function checkSize(value: number, place: string): void {
  if (!(value > 0)) fail(place, `must be above 0, got ${value}`);
  if (value < SMALLEST || value > LARGEST) fail(place, `must be between ${SMALLEST} and ${LARGEST}, got ${value}`);
}

const size: (field: string) => Check = (field) => (shape, place) => checkSize(number(shape[field], `${place}.${field}`), `${place}.${field}`);

const sizes: (field: string) => Check = (field) => (shape, place) =>
  numbers(shape[field], `${place}.${field}`, 3).forEach((value, i) => checkSize(value, `${place}.${field}[${i}]`));

const some: (field: string) => Check = (field) => (shape, place) => void array(shape[field], `${place}.${field}`);

const angle: Check = (shape, place) => {
  const value = number(shape.half_angle, `${place}.half_angle`);
  if (!(value > 0 && value < Math.PI / 2)) fail(`${place}.half_angle`, `must be between 0 and pi/2, got ${value}`);
};

const axes: Check = (shape, place) => {
  if ((shape.semi_axes === undefined) === (shape.P === undefined)) fail(place, 'must have either semi_axes or P');
  (shape.P === undefined ? sizes('semi_axes') : some('P'))(shape, place);
};

const faces: Check = (shape, place) => {
  const byVertices = shape.vertices !== undefined;
  if (byVertices === (shape.A !== undefined || shape.b !== undefined)) fail(place, 'must have either A and b, or vertices');
  for (const field of byVertices ? ['vertices'] : ['A', 'b']) some(field)(shape, place);
};

const plane: Check = (shape, place) => {
  if (!(Math.hypot(...numbers(shape.normal, `${place}.normal`, 3)) > 0)) fail(`${place}.normal`, 'must not be zero');
  if (shape.offset !== undefined) number(shape.offset, `${place}.offset`);
};

const parts: Check = (shape, place) => {
  const list = array(shape.parts, `${place}.parts`);
  if (list.length === 0) fail(`${place}.parts`, 'must not be empty');
  list.forEach((part, i) => checkShape(object(part, `${place}.parts[${i}]`).shape, `${place}.parts[${i}].shape`));
};

/** Of each type: its fields, and what they must be. */
const TYPES: Record<string, { fields: string[]; checks: Check[] }> = {
  sphere: { fields: ['radius'], checks: [size('radius')] },
  box: { fields: ['size'], checks: [sizes('size')] },
  capsule: { fields: ['radius', 'length'], checks: [size('radius'), size('length')] },
  cylinder: { fields: ['radius', 'length'], checks: [size('radius'), size('length')] },
  cone: { fields: ['height', 'half_angle'], checks: [size('height'), angle] },
  ellipsoid: { fields: ['semi_axes', 'P'], checks: [axes] },
  polytope: { fields: ['A', 'b', 'vertices'], checks: [faces] },
  rounded_polytope: { fields: ['A', 'b', 'vertices', 'radius'], checks: [faces, size('radius')] },
  padded_polygon: { fields: ['C', 'd', 'radius'], checks: [some('C'), some('d'), size('radius')] },
  halfspace: { fields: ['normal', 'offset'], checks: [plane] },
  minkowski_sum: { fields: ['parts'], checks: [parts] },
  bundle: { fields: ['parts'], checks: [parts] },
};

/** The shape, if it is one. */
export function checkShape(value: Json, place: string): Shape {
  const shape = object(value, place) as Shape;
  const type = text(shape.type, `${place}.type`);
  if (!Object.hasOwn(TYPES, type)) fail(`${place}.type`, `unknown shape type '${type}'; known: ${Object.keys(TYPES).join(', ')}`);
  const { fields, checks } = TYPES[type]!;
  for (const field of Object.keys(shape))
    if (field !== 'type' && !fields.includes(field)) fail(`${place}.${field}`, `unknown field; known: type, ${fields.join(', ')}`);
  for (const check of checks) check(shape, place);
  return shape;
}
