import type { JsonValue } from "./json-value.ts";

/**
 * How a list is stored: as the names of its elements. Neighbours that were written one after the other are named as one
 * run, so a list that only grows takes the same few bytes in each of its versions. What is short stands in it itself.
 *
 *   {"$":"list","e":[[first,count], {"v":inline element}, 17 …]}   17: a piece {"$":"entries","e":[…]} with more of them
 */
export const LIST = "list";
export const ENTRIES_OF_LIST = "entries";

export type ListEntry = [first: number, count: number] | { v: JsonValue } | number;

/** Names neighbours as one run. */
export class Entries {
  readonly list: ListEntry[] = [];
  hasInline = false;
  #run: [number, number] | undefined;

  /** Begins with the first `count` of `ids`. */
  constructor(ids: readonly number[], count: number) {
    for (let i = 0; i < count; i += this.#run?.[1] ?? 1) {
      const first = ids[i] as number;
      let length = 1;
      while (i + length < count && ids[i + length] === first + length) length++;
      this.#run = [first, length];
      this.list.push(this.#run);
    }
  }

  add(id: number): void {
    if (this.#run && this.#run[0] + this.#run[1] === id) this.#run[1]++;
    else {
      this.#run = [id, 1];
      this.list.push(this.#run);
    }
  }

  addInline(v: JsonValue): void {
    this.hasInline = true;
    this.#run = undefined;
    this.list.push({ v });
  }
}

/** What a list has at its end that the one before had not, if it is the same up to there; undefined if that isn't plain to see. */
export function addedTo(before: readonly ListEntry[], now: readonly ListEntry[]): ListEntry[] | undefined {
  const last = before.length - 1;
  if (last < 0) return [...now];
  for (let i = 0; i < last; i++) if (moreThan(before[i], now[i]) !== 0) return undefined;
  const more = moreThan(before[last], now[last]);
  if (more === undefined) return undefined;
  const rest = now.slice(last + 1);
  if (more === 0) return rest;
  const [first, count] = now[last] as [number, number];
  return [[first + count - more, more], ...rest];
}

/** How many pieces a run has more than another that begins with the same one; undefined for all else that differs. */
function moreThan(before: ListEntry | undefined, now: ListEntry | undefined): number | undefined {
  if (Array.isArray(before) && Array.isArray(now)) {
    return before[0] === now[0] && before[1] <= now[1] ? now[1] - before[1] : undefined;
  }
  return typeof now === "number" && now === before ? 0 : undefined;
}

const SMALLEST_GROUP = 16;
const LARGEST_GROUP = 96;
/** One entry in so many ends a group. */
const ENDS_ONE_IN = 32;

/**
 * Groups of entries, and the rest of the list. Where a group ends is a matter of what stands there, not of how much comes
 * before it: an edit, at whichever place, changes the group it falls into and leaves the others as they are stored.
 */
export function cutIntoGroups(entries: readonly ListEntry[]): { groups: ListEntry[][]; rest: ListEntry[] } {
  const groups: ListEntry[][] = [];
  let start = 0;
  // The last one may be a run that grows with every version.
  for (let end = 1; end < entries.length; end++) {
    const size = end - start;
    if (size < SMALLEST_GROUP || (size < LARGEST_GROUP && !endsGroup(entries[end - 1] as ListEntry))) continue;
    groups.push(entries.slice(start, end));
    start = end;
  }
  return { groups, rest: entries.slice(start) };
}

function endsGroup(entry: ListEntry): boolean {
  return mix(codeOf(entry)) % ENDS_ONE_IN === 0;
}

function codeOf(entry: ListEntry): number {
  if (typeof entry === "number") return codeOfNumber(entry);
  if (Array.isArray(entry)) return codeOfNumber(entry[0]);
  return typeof entry.v === "number" ? codeOfNumber(entry.v) : codeOfText(entry.v);
}

/** Piece numbers and fractions alike. */
function codeOfNumber(value: number): number {
  return (value / 2 ** 32) ^ value ^ ((value % 1) * 2 ** 31);
}

/** What stands in a list itself is short, or begins with what tells it from others. */
const LOOKED_AT = 200;

function codeOfText(value: JsonValue): number {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  const length = Math.min(text.length, LOOKED_AT);
  let code = text.length;
  for (let i = 0; i < length; i++) code = Math.imul(code, 31) + text.charCodeAt(i);
  return code;
}

/** Every bit of the code has a say in every bit of what comes out. */
function mix(code: number): number {
  let mixed = Math.imul(code ^ (code >>> 16), 0x45d9f3b);
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x45d9f3b);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
