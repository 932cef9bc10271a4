import { isDerivedField, isWholeMessage, messageName } from "./langchain-class.ts";

/**
 * What an object and everything below it looked like when it was stored, laid out flat: for each container itself,
 * its keys (or, for an array, its length) and its members. Going through it tells in a tenth of a microsecond whether
 * anyone has changed the object in place since, where serialising it again would take several.
 */
export type Shadow = unknown[];

/** Undefined for an object that holds what can't be watched this way (Map, Date, bytes …): it is serialised each time. */
export function shadowOf(value: object): Shadow | undefined {
  const shadow: Shadow = [];
  return cast(value, shadow) ? shadow : undefined;
}

/**
 * Looks at the part of `shadow` from `start` to `end`, so that many can lie in one array.
 * `Object.is`, because NaN is itself and 0 is not -0: both are stored as they are. It is faster too: `===` looks into
 * every value, since a number that is NaN would not equal itself, and most of a long list is not in the processor's caches.
 */
export function isUnchanged(shadow: Shadow, start = 0, end = shadow.length): boolean {
  for (let at = start; at < end; ) {
    const container = shadow[at] as Record<string, unknown> & unknown[];
    const keys = shadow[at + 1] as number | readonly string[];
    at += 2;
    if (typeof keys === "number") {
      if (!isSameArray(container, keys, shadow, at)) return false;
      at += keys;
    } else {
      if (!isSameObject(container, keys, shadow, at)) return false;
      at += keys.length;
    }
  }
  return true;
}

function isSameArray(array: unknown[], length: number, shadow: Shadow, at: number): boolean {
  if (array.length !== length) return false;
  for (let i = 0; i < length; i++) if (!Object.is(array[i], shadow[at + i])) return false;
  return true;
}

function isSameObject(object: Record<string, unknown>, keys: readonly string[], shadow: Shadow, at: number): boolean {
  let n = 0;
  for (const key in object) {
    if (key !== keys[n] || !Object.is(object[key], shadow[at + n])) return false;
    n++;
  }
  return n === keys.length;
}

function cast(value: object, shadow: Shadow): boolean {
  if (Array.isArray(value)) return castArray(value, shadow);
  const isMessage = messageName(value) !== undefined;
  if (isMessage ? !isWholeMessage(value) : Object.getPrototypeOf(value) !== Object.prototype) return false;
  const object = value as Record<string, unknown>;
  const keys = sharedKeys(object);
  shadow.push(object, keys);
  for (const key of keys) shadow.push(object[key]);
  for (const key of keys) {
    if (isMessage && isDerivedField(key)) continue;
    if (!castMember(object[key], shadow)) return false;
  }
  return true;
}

function castArray(array: unknown[], shadow: Shadow): boolean {
  shadow.push(array, array.length);
  for (const member of array) shadow.push(member);
  return array.every((member) => castMember(member, shadow));
}

function castMember(member: unknown, shadow: Shadow): boolean {
  if (typeof member === "object" && member !== null) return cast(member, shadow);
  return typeof member !== "function";
}

/** Of each number of keys; who uses objects as maps has countless shapes, which are not worth keeping. */
const SHAPES_KEPT = 16;
const shapes = new Map<number, (readonly string[])[]>();

/** Most objects have one of a few shapes: their keys are kept once, which is also kinder to the processor's caches. */
function sharedKeys(object: object): readonly string[] {
  const keys = Object.keys(object);
  const known = shapes.get(keys.length) ?? [];
  const shape = known.find((one) => one.every((key, i) => key === keys[i]));
  if (shape) return shape;
  if (known.length === 0) shapes.set(keys.length, known);
  if (known.length < SHAPES_KEPT) known.push(keys);
  return keys;
}
