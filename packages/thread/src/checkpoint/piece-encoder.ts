import { hash } from "node:crypto";
import type { AssumedLists } from "./assumed-lists.ts";
import { encodeValue, refusedWithin, requirePlainList, TAG } from "./encode.ts";
import type { JsonValue } from "./json-value.ts";
import { type Known, KnownList } from "./known-list.ts";
import { messageName } from "./langchain-class.ts";
import { contentOf, PieceMemory } from "./piece-memory.ts";
import { toBytes } from "./serializer.ts";
import { shadowOf } from "./shadow.ts";

/**
 * Structural sharing. A list is stored as names of its elements, each of which is written once, however many
 * checkpoints, sends and forks hold it. Neighbours that were written one after the other are named as one run, so a
 * list that only grows takes the same few bytes in each of its versions.
 *
 *   {"$":"list","e":[[first,count], {"v":inline element}, 17 …]}   17: a piece {"$":"entries","e":[…]} with more of them
 *   {"$":"piece","p":17}
 */
export const LIST = "list";
export const PIECE = "piece";
export const ENTRIES_OF_LIST = "entries";

export type ListEntry = [first: number, count: number] | { v: JsonValue } | number;

export interface NewPiece {
  id: number;
  value: Uint8Array;
}

/** Below the state's channels and a Send's arguments nothing is shared any more: a piece is a leaf. */
const SHARED_DEPTH = 4;
/** A reference takes about 20 bytes and a row of its own about as many again. */
const INLINE_BYTES = 200;
/** So many runs take less, however large their numbers are. */
const SHORT_LIST = 5;
/** Primitives have no identity; only in long lists is it worth looking them up by what they are. */
const LONG_LIST = 64;
/** More entries than this move into a piece of their own, so that a list of many edits doesn't repeat them for ever. */
const ENTRIES = 64;
const ENTRIES_MOVED = 48;

/** From this length on it pays to remember where each element stood. */
const REMEMBERED_LIST = 16;

const NO_SHADOW: Known["shadow"] = [];

interface Stored {
  id: number;
  shadow: Known["shadow"] | undefined;
}

/** Where a value goes, for errors, and which numbers its new elements take. */
export interface Destination {
  where: string;
  ns: string;
  channel: string;
  /** Nobody will assign ids to its messages any more: they are in a channel, not on their way to one. */
  settled: boolean;
}

export interface LongLists {
  /** The long lists of this invocation, by stream. */
  lists: Map<string, KnownList> | undefined;
  /** Where to note down what pending writes took for unchanged; without it, everything is compared at once. */
  assumed?: AssumedLists | undefined;
}

/** Encodes the values of one write. What it finds out is on top of `below` until the write is committed. */
export class PieceEncoder {
  readonly memory: PieceMemory;
  readonly pieces: NewPiece[] = [];
  /** Whether something was taken for unchanged without a look. */
  assumes = false;
  /** Of the channels that are lists of nothing but pieces. */
  readonly #runs = new Map<string, readonly [number, number][]>();
  readonly #lists: Map<string, KnownList> | undefined;
  readonly #assumed: AssumedLists | undefined;
  /** Lists that this encoder has gone through: nothing can have changed them since. */
  readonly #checked = new Map<KnownList, number>();
  /** Elements that are being encoded member by member. */
  readonly #open = new Set<object>();

  constructor(below: PieceMemory, { lists, assumed }: LongLists = { lists: undefined }) {
    this.memory = new PieceMemory(below);
    this.#lists = lists;
    this.#assumed = assumed;
  }

  /** The pieces of a channel that is a list, element by element, if it holds nothing else. */
  numbersOf(channel: string): number[] | undefined {
    return this.#runs.get(channel)?.flatMap(([first, count]) => Array.from({ length: count }, (_, i) => first + i));
  }

  encode(value: unknown, to: Destination): JsonValue {
    return encodeValue(value, to.where, (member, depth, key) => {
      if (depth > SHARED_DEPTH) return undefined;
      if (Array.isArray(member)) return this.#list(member, `${to.ns}/${key || to.channel}`, to, depth === 0);
      return depth > 0 ? this.#object(member, to) : undefined;
    });
  }

  /** As `encode`, and a long result becomes a piece of its own. */
  encodeChannel(value: unknown, to: Destination): JsonValue {
    const json = this.encode(value, to);
    if (isSurelyShort(json)) return json;
    return toBytes(json).length > INLINE_BYTES ? { [TAG]: PIECE, p: this.#byContent(undefined, json, "").id } : json;
  }

  #list(list: unknown[], stream: string, to: Destination, isChannel: boolean): JsonValue | undefined {
    if (list.length < LONG_LIST && !list.some(isObject)) return undefined;
    const before = list.length < REMEMBERED_LIST ? undefined : this.#listBefore(stream);
    const kept = before ? this.#kept(before, list, to) : 0;
    // Of a list that was stored already it is known. Each open element is a list's, so it lies two levels deeper.
    if (kept === 0) requirePlainList(list, to.where, 2 * this.#open.size);
    const entries = new Entries(before?.ids ?? [], kept);
    let i = kept;
    try {
      for (; i < list.length; i++) {
        const id = before?.find(i, list[i]) ?? this.#element(list[i], stream, to, before, i);
        if (id === undefined) entries.addInline(this.#inline(list[i] as object, to));
        else entries.add(id);
      }
    } catch (error) {
      throw refusedWithin(error, `[${i}]`);
    }
    before?.cut(list.length);
    if (isChannel && !entries.hasInline) this.#runs.set(to.channel, entries.list as [number, number][]);
    if (before) this.#checked.set(before, before.length);
    return { [TAG]: LIST, e: this.#shorten(entries.list) as JsonValue[] };
  }

  /** How many elements, from the first on, are those that were stored; of a pending write that may be an assumption. */
  #kept(before: KnownList, list: readonly unknown[], { settled }: Destination): number {
    const same = before.sameUpTo(list);
    const assumed = this.#assumed?.assumedOf(before) ?? 0;
    // What was assumed of places that this list fills otherwise could not be looked at any more.
    if (same < assumed) this.#assumed?.settle(before);
    if (same <= (this.#checked.get(before) ?? 0)) return same;
    if (!settled && this.#assumed) {
      this.#assumed.assume(before, same);
      this.assumes = true;
      return same;
    }
    if (before.isUnchanged(same)) {
      this.#assumed?.confirm(before);
      return same;
    }
    this.#assumed?.settle(before);
    return 0;
  }

  /** One that holds itself is refused by the ordinary encoding, which knows what it is in. */
  #inline(element: object, to: Destination): JsonValue {
    if (this.#open.has(element)) return encodeValue(element, to.where);
    this.#open.add(element);
    const json = this.encode(element, to);
    this.#open.delete(element);
    return json;
  }

  #listBefore(stream: string): KnownList | undefined {
    if (!this.#lists) return undefined;
    let before = this.#lists.get(stream);
    if (!before) {
      before = new KnownList();
      this.#lists.set(stream, before);
    }
    return before;
  }

  /** The piece that holds the element, known or new; undefined for one that is better kept in the list itself. */
  #element(
    element: unknown,
    stream: string,
    to: Destination,
    list: KnownList | undefined,
    i: number,
  ): number | undefined {
    const known = isObject(element)
      ? this.#elementObject(element, stream, to)
      : { id: this.#primitive(element, stream, to), shadow: NO_SHADOW };
    list?.remember(i, element, known?.shadow ? (known as Known) : undefined);
    return known?.id;
  }

  #primitive(element: unknown, stream: string, { where }: Destination): number {
    const content = contentOf(element);
    const known = content === undefined ? undefined : this.memory.findContent(content);
    if (known !== undefined) return known;
    const json = encodeValue(element, where);
    if (content === undefined) return this.#byContent(undefined, json, stream).id;
    const id = this.#store(toBytes(json), stream);
    this.memory.rememberContent(content, id);
    return id;
  }

  #elementObject(element: object, stream: string, { where, settled }: Destination): Stored | undefined {
    const known = this.memory.find(element);
    if (known || isComposite(element)) return known;
    // A reducer is about to give this message its id, in place: what is stored now would be no use then.
    if (!settled && messageName(element) && (element as { id?: unknown }).id === undefined) return undefined;
    return this.#byContent(element, encodeValue(element, where), stream);
  }

  #object(member: object, to: Destination): JsonValue | undefined {
    const known = this.memory.find(member);
    if (known) return { [TAG]: PIECE, p: known.id };
    const isMessage = messageName(member) !== undefined;
    if (!isMessage && Object.getPrototypeOf(member) !== Object.prototype) return undefined;
    if (isComposite(member)) return undefined;
    // A map of what is stored (files, say) only names it; the same in a channel and in the sends that carry it along.
    if (!isMessage && this.#holdsKnown(member)) return this.encodeChannel(member, to);
    const json = encodeValue(member, to.where);
    if (toBytes(json).length <= INLINE_BYTES) return json;
    if (!isMessage && holdsLong(json)) return this.encodeChannel(member, to);
    return { [TAG]: PIECE, p: this.#byContent(member, json, "").id };
  }

  #holdsKnown(object: object): boolean {
    return Object.values(object).some((member) => isObject(member) && this.memory.find(member) !== undefined);
  }

  /** Objects that were copied on their way are found again by what they hold. */
  #byContent(object: object | undefined, json: JsonValue, stream: string): Stored {
    const value = toBytes(json);
    const content = hash("sha256", value, "base64");
    let id = this.memory.findContent(content);
    if (id === undefined) {
      id = this.#store(value, stream);
      this.memory.rememberContent(content, id);
    }
    const shadow = object && shadowOf(object);
    if (shadow) this.memory.remember(object, { id, shadow });
    return { id, shadow };
  }

  #store(value: Uint8Array, stream: string): number {
    const id = this.memory.nextNumber(stream);
    this.pieces.push({ id, value });
    return id;
  }

  /**
   * Names that are too many move into pieces of their own, in groups that stay as they are while the list grows; the names
   * of those groups move in turn. So a few reads, one after the other, lead to the end of the longest list.
   */
  #shorten(entries: ListEntry[]): ListEntry[] {
    const groups = Math.ceil((entries.length - ENTRIES) / ENTRIES_MOVED);
    if (groups <= 0) return entries;
    const moved = Array.from({ length: groups }, (_, n) => {
      const e = entries.slice(n * ENTRIES_MOVED, (n + 1) * ENTRIES_MOVED) as JsonValue[];
      return this.#byContent(undefined, { [TAG]: ENTRIES_OF_LIST, e }, "").id;
    });
    return [...this.#shorten(moved), ...entries.slice(groups * ENTRIES_MOVED)];
  }
}

/** Names neighbours as one run. */
class Entries {
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

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/** What most channels hold at most steps: nothing, or a list that only grew. Its length need not be counted. */
function isSurelyShort(json: JsonValue): boolean {
  if (json === null || typeof json === "boolean" || typeof json === "number") return true;
  if (!isObject(json) || Array.isArray(json) || json[TAG] !== LIST) return false;
  const entries = json["e"] as ListEntry[];
  return entries.length <= SHORT_LIST && entries.every((entry) => Array.isArray(entry));
}

/** Copies of a map's members are not known by identity, but by what they hold, once they are looked at one by one. */
function holdsLong(json: JsonValue): boolean {
  const members = Object.values(json as { [key: string]: JsonValue });
  return members.some((member) => isObject(member) && !Array.isArray(member) && toBytes(member).length > INLINE_BYTES);
}

/**
 * A Send and its arguments hold the agent's whole state: their members are shared one by one, since as one piece each
 * would hold a copy of the conversation.
 */
function isComposite(value: object, depth = 0): boolean {
  if (Array.isArray(value) || messageName(value)) return false;
  return Object.values(value).some((member) => {
    if (Array.isArray(member)) return member.some(isObject);
    return depth < 1 && isObject(member) && isComposite(member, depth + 1);
  });
}
