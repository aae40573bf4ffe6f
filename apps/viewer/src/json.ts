// Reading JSON with errors that say where: every value is looked at with its path at hand.

export class InputError extends Error {
  constructor(readonly place: string, reason: string) {
    super(place === '' ? reason : `${place}: ${reason}`);
  }
}

export type Json = unknown;

export function fail(place: string, reason: string): never {
  throw new InputError(place, reason);
}

function kind(value: Json): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  return Array.isArray(value) ? 'an array' : `${typeof value === 'object' ? 'an' : 'a'} ${typeof value}`;
}

export function object(value: Json, place: string): Record<string, Json> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) fail(place, `must be an object, got ${kind(value)}`);
  return value as Record<string, Json>;
}

export function array(value: Json, place: string): Json[] {
  if (!Array.isArray(value)) fail(place, `must be an array, got ${kind(value)}`);
  return value;
}

/** An array, empty where there is none. */
export function list<T>(value: Json, place: string, entry: (value: Json, place: string) => T): T[] {
  if (value === undefined) return [];
  return array(value, place).map((item, i) => entry(item, `${place}[${i}]`));
}

export function number(value: Json, place: string): number {
  if (typeof value !== 'number' || !Number.isFinite(value)) fail(place, `must be a number, got ${kind(value)}`);
  return value;
}

/** Beyond this (metres, seconds) single precision, in which pictures are made, has no room for what is there. */
export const MOST_COORDINATE = 1e9;

/** A number that says where or when something is. */
export function coordinate(value: Json, place: string): number {
  const x = number(value, place);
  if (!(Math.abs(x) <= MOST_COORDINATE)) fail(place, `must be within ±${MOST_COORDINATE.toExponential(0)}, got ${x}`);
  return x;
}

export function coordinates(value: Json, place: string, length = -1): number[] {
  const all = numbers(value, place, length);
  for (let i = 0; i < all.length; ++i) if (!(Math.abs(all[i]!) <= MOST_COORDINATE)) coordinate(all[i], `${place}[${i}]`);
  return all;
}

export function integer(value: Json, place: string, lowest: number, highest: number): number {
  const whole = number(value, place);
  if (!Number.isInteger(whole) || whole < lowest || whole > highest)
    fail(place, `must be a whole number from ${lowest} to ${highest}, got ${whole}`);
  return whole;
}

export function boolean(value: Json, place: string): boolean {
  if (typeof value !== 'boolean') fail(place, `must be true or false, got ${kind(value)}`);
  return value;
}

export function text(value: Json, place: string): string {
  if (typeof value !== 'string') fail(place, `must be a string, got ${kind(value)}`);
  return value;
}

export function numbers(value: Json, place: string, length = -1): number[] {
  const items = array(value, place);
  if (length >= 0 && items.length !== length) fail(place, `must be ${length} numbers, got ${items.length}`);
  for (let i = 0; i < items.length; ++i) number(items[i], `${place}[${i}]`);
  return items as number[];
}

export function parse(source: string, place: string): Json {
  try {
    return JSON.parse(source) as Json;
  } catch (error) {
    fail(place, `is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}
