import { isDerivedField, isWholeMessage, messageName } from "./langchain-class.ts";
import { castMessage, isSameMessage, isToldByMessage, messageKind, messagePlaces } from "./message-shadow.ts";

/**
 * What an object and everything below it looked like when it was stored, laid out flat: for each container itself, what
 * kind it is, and its members. Going through it tells in a twentieth of a microsecond whether anyone has changed a
 * message in place since, where serialising it again would take several.
 */
export type Shadow = unknown[];

/** What is not negative is the length of an array; beside these there are the kinds of messages. */
const EMPTY_OBJECT = -1;
/** Its keys follow, then its members. */
const OBJECT = -2;

/** Undefined for an object that holds what can't be watched this way (Map, Date, bytes …): it is serialised each time. */
export function shadowOf(value: object): Shadow | undefined {
  const shadow: Shadow = [];
  return cast(value, shadow) ? shadow : undefined;
}

/** Looks at the part of `shadow` from `start` to `end`, so that many can lie in one array. */
export function isUnchanged(shadow: Shadow, start = 0, end = shadow.length): boolean {
  for (let at = start; at < end; ) {
    at = afterUnchanged(shadow, at);
    if (at === CHANGED) return false;
  }
  return true;
}

const CHANGED = -1;

/** Where the next container's part begins, if this one is what it was. */
function afterUnchanged(shadow: Shadow, start: number): number {
  const container = shadow[start] as Record<string, unknown> & unknown[];
  const kind = shadow[start + 1] as number;
  const at = start + 2;
  if (kind >= 0) return isSameArray(container, kind, shadow, at) ? at + kind : CHANGED;
  if (kind === EMPTY_OBJECT) return isEmpty(container) ? at : CHANGED;
  if (kind !== OBJECT) return isSameMessage(container, kind, shadow, at) ? at + messagePlaces(kind) : CHANGED;
  const keys = shadow[at] as readonly string[];
  return isSameObject(container, keys, shadow, at + 1) ? at + 1 + keys.length : CHANGED;
}

function isEmpty(object: object): boolean {
  for (const _ in object) return false;
  return true;
}

function isSameArray(array: unknown[], length: number, shadow: Shadow, at: number): boolean {
  if (array.length !== length) return false;
  for (let i = 0; i < length; i++) if (!Object.is(array[i], shadow[at + i])) return false;
  return true;
}

/**
 * `Object.is`, because NaN is itself and 0 is not -0: both are stored as they are. It is faster too: `===` looks into
 * every value, since a number that is NaN would not equal itself, and most of a long list is not in the processor's caches.
 */
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
  if (messageName(value)) return isWholeMessage(value) && castObject(value, true, shadow);
  return Object.getPrototypeOf(value) === Object.prototype && castObject(value, false, shadow);
}

function castObject(value: object, isMessage: boolean, shadow: Shadow): boolean {
  const object = value as Record<string, unknown>;
  const keys = sharedKeys(object);
  const kind = isMessage ? messageKind(keys) : null;
  if (kind !== null) castMessage(object, kind, keys, shadow);
  else if (keys.length === 0) shadow.push(object, EMPTY_OBJECT);
  else castMembers(object, keys, shadow);
  return keys.every((key) => {
    if (isMessage && isDerivedField(key)) return true;
    return (kind !== null && isToldByMessage(key, object[key])) || castMember(object[key], shadow);
  });
}

/** One by one: as arguments of one call, very many would be too many. */
function castMembers(object: Record<string, unknown>, keys: readonly string[], shadow: Shadow): void {
  shadow.push(object, OBJECT, keys);
  for (const key of keys) shadow.push(object[key]);
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
