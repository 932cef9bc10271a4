import type { AssumedLists } from "./assumed-lists.ts";
import { encodeValue, explained, RECORD, refusedWithin, requirePlainList, TAG } from "./encode.ts";
import type { JsonValue } from "./json-value.ts";
import { type Known, KnownList } from "./known-list.ts";
import { messageName } from "./langchain-class.ts";
import { cutIntoGroups, ENTRIES_OF_LIST, Entries, LIST, type ListEntry } from "./list-entries.ts";
import { holdsLong, INLINE_BYTES, isLong } from "./long-value.ts";
import { contentHash, PieceMemory } from "./piece-memory.ts";
import { toBytes } from "./serializer.ts";
import { shadowOf } from "./shadow.ts";

/**
 * Structural sharing. A list is stored as names of its elements (`list-entries.ts`), each of which is written once, however
 * many checkpoints, sends and forks hold it; and so is what a channel holds besides, if it is long.
 *
 *   {"$":"piece","p":17}
 */
export const PIECE = "piece";

export interface NewPiece {
  id: number;
  value: Uint8Array;
}

/** Below the state's channels and a Send's arguments nothing is shared any more: a piece is a leaf. */
const SHARED_DEPTH = 4;
/** So many runs take less, however large their numbers are. */
const SHORT_LIST = 5;
/** From this length on a list of texts and numbers is worth looking at one by one; and so is a map of anything. */
const LONG_LIST = 64;
/** More entries than this move into pieces of their own, so that a list of many edits doesn't repeat them for ever. */
const ENTRIES = 64;
/** A pending write is mostly short, and gone soon. What is longer is often what the channel holds next. */
const INLINE_WRITE_BYTES = 1_000;

/** From this length on it pays to remember where each element stood. */
const REMEMBERED_LIST = 16;

/** So many elements take longer to look through than a database elsewhere takes to be told to wait for that. */
const VERY_LONG_LIST = 400;

/** Of a text, which nobody can change. */
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
  /** A checkpoint takes very long ones for unchanged, too. */
  looksLater?: boolean;
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
  readonly #looksLater: boolean;
  /** Lists that this encoder has gone through: nothing can have changed them since. */
  readonly #checked = new Map<KnownList, number>();
  /** Elements that are being encoded member by member. */
  readonly #open = new Set<object>();

  constructor(below: PieceMemory, { lists, assumed, looksLater = false }: LongLists = { lists: undefined }) {
    this.memory = new PieceMemory(below);
    this.#lists = lists;
    this.#assumed = assumed;
    this.#looksLater = looksLater;
  }

  /** The pieces of a channel that is a list, element by element, if it holds nothing else. */
  numbersOf(channel: string): number[] | undefined {
    return this.#runs.get(channel)?.flatMap(([first, count]) => Array.from({ length: count }, (_, i) => first + i));
  }

  /** A pending write. */
  encodeWrite(value: unknown, to: Destination): JsonValue {
    return this.#asPiece(this.#encode(value, to, 0, true), INLINE_WRITE_BYTES);
  }

  /** What a channel holds. */
  encodeChannel(value: unknown, to: Destination): JsonValue {
    return this.#asPiece(this.#encode(value, to, 0, true), INLINE_BYTES);
  }

  /** What is long becomes a piece. */
  #asPiece(json: JsonValue, inlineBytes: number): JsonValue {
    if (isSurelyShort(json)) return json;
    const bytes = toBytes(json);
    return bytes.length > inlineBytes ? { [TAG]: PIECE, p: this.#byContent(bytes, "") } : json;
  }

  /** Of a value so deep inside of what is written. Its members are named, where that is shorter. */
  #encode(value: unknown, to: Destination, depth: number, isChannel = false): JsonValue {
    return encodeValue(value, to.where, (member, below, key) => {
      if (depth + below > SHARED_DEPTH) return undefined;
      if (typeof member === "string") return { [TAG]: PIECE, p: this.#byContent(toBytes(member), "") };
      const stream = `${to.ns}/${key || to.channel}`;
      if (Array.isArray(member)) return this.#list(member, { stream, to, isChannel: isChannel && below === 0 });
      return this.#record(member, stream, to) ?? (below > 0 ? this.#object(member, to, depth + below) : undefined);
    });
  }

  /** A map of many is a list of its keys and values: one that grows, or changes here and there, then costs what is new. */
  #record(object: object, stream: string, to: Destination): JsonValue | undefined {
    if (Object.getPrototypeOf(object) !== Object.prototype) return undefined;
    const keys = Object.keys(object);
    if (keys.length < LONG_LIST || holdsRefused(object)) return undefined;
    const list: unknown[] = [];
    for (const key of keys) list.push(key, (object as Record<string, unknown>)[key]);
    return { [TAG]: RECORD, v: this.#list(list, { stream, to, pathOf: (i) => `.${list[i - (i % 2)]}` }) as JsonValue };
  }

  #list(list: unknown[], place: ListPlace): JsonValue | undefined {
    const { stream, to, isChannel = false } = place;
    const hasNames = list.some(isWorthAName);
    if (list.length < LONG_LIST && !hasNames) return undefined;
    const before = list.length < REMEMBERED_LIST || !hasNames ? undefined : this.#listBefore(stream);
    const kept = before ? this.#kept(before, list, to) : 0;
    // Of a list that was stored already it is known. Each open element is a list's, so it lies two levels deeper.
    if (kept === 0) requirePlainList(list, to.where, 2 * this.#open.size);
    const entries = this.#entriesOf(list, place, before, kept);
    before?.cut(list.length);
    if (isChannel && !entries.hasInline) this.#runs.set(to.channel, entries.list as [number, number][]);
    if (before) this.#checked.set(before, before.length);
    return { [TAG]: LIST, e: this.#shorten(entries.list) as JsonValue[] };
  }

  #entriesOf(
    list: readonly unknown[],
    { stream, to, pathOf = placeOf }: ListPlace,
    before: KnownList | undefined,
    kept: number,
  ): Entries {
    const entries = new Entries(before?.ids ?? [], kept);
    let i = kept;
    try {
      for (; i < list.length; i++) {
        const id = before?.find(i, list[i]) ?? this.#element(list[i], stream, to, before, i);
        if (id === undefined) entries.addInline(this.#inline(list[i], to));
        else entries.add(id);
      }
    } catch (error) {
      throw refusedWithin(explained(error, list[i], to.where), pathOf(i));
    }
    return entries;
  }

  /** How many elements, from the first on, are those that were stored; that may be an assumption. */
  #kept(before: KnownList, list: readonly unknown[], { settled }: Destination): number {
    const same = before.sameUpTo(list);
    const assumed = this.#assumed?.assumedOf(before) ?? 0;
    // What was assumed of places that this list fills otherwise could not be looked at any more.
    if (same < assumed) this.#assumed?.settle(before);
    if (same <= (this.#checked.get(before) ?? 0)) return same;
    if (this.#assumed && (!settled || (this.#looksLater && same >= VERY_LONG_LIST))) {
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
  #inline(element: unknown, to: Destination): JsonValue {
    if (typeof element === "string") return element;
    if (!isObject(element) || this.#open.has(element)) return encodeValue(element, to.where);
    this.#open.add(element);
    const json = this.#encode(element, to, 0);
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
    const known = isObject(element) ? this.#elementObject(element, stream, to) : this.#elementText(element, stream);
    list?.remember(i, element, known?.shadow ? (known as Known) : undefined);
    return known?.id;
  }

  #elementText(element: unknown, stream: string): Stored | undefined {
    if (typeof element !== "string" || !isWorthAName(element)) return undefined;
    return { id: this.#byContent(toBytes(element), stream), shadow: NO_SHADOW };
  }

  #elementObject(element: object, stream: string, { where, settled }: Destination): Stored | undefined {
    const known = this.memory.find(element);
    if (known || (isComposite(element) && !(Array.isArray(element) && this.#open.size >= SHARED_DEPTH))) return known;
    // A reducer is about to give this message its id, in place: what is stored now would be no use then.
    if (!settled && messageName(element) && (element as { id?: unknown }).id === undefined) return undefined;
    return this.#storeObject(element, encodeValue(element, where), stream);
  }

  #object(member: object, to: Destination, depth: number): JsonValue | undefined {
    const known = this.memory.find(member);
    if (known) return { [TAG]: PIECE, p: known.id };
    const isMessage = messageName(member) !== undefined;
    if (!isMessage && Object.getPrototypeOf(member) !== Object.prototype) return undefined;
    if (isComposite(member)) return undefined;
    // A map of what is stored (files, say) only names it; the same in a channel and in the sends that carry it along.
    if (!isMessage && (this.#holdsKnown(member) || holdsLong(member))) {
      return this.#asPiece(this.#encode(member, to, depth), INLINE_BYTES);
    }
    const json = encodeValue(member, to.where);
    return isLong(member) ? { [TAG]: PIECE, p: this.#storeObject(member, json, "").id } : json;
  }

  #holdsKnown(object: object): boolean {
    return Object.values(object).some((member) => isObject(member) && this.memory.find(member) !== undefined);
  }

  #storeObject(object: object, json: JsonValue, stream: string): Stored {
    const id = this.#byContent(toBytes(json), stream);
    const shadow = shadowOf(object);
    if (shadow) this.memory.remember(object, { id, shadow });
    return { id, shadow };
  }

  /** What was copied on its way is found again by what it holds. */
  #byContent(value: Uint8Array, stream: string): number {
    const content = contentHash(value);
    const known = this.memory.findContent(content);
    if (known !== undefined) return known;
    const id = this.memory.nextNumber(stream);
    this.pieces.push({ id, value });
    this.memory.rememberContent(content, id);
    return id;
  }

  /** Names that are too many move into pieces of their own, and the names of those in turn: few reads lead to the end of any list. */
  #shorten(entries: ListEntry[]): ListEntry[] {
    if (entries.length <= ENTRIES) return entries;
    const { groups, rest } = cutIntoGroups(entries);
    const names = groups.map((e) => this.#byContent(toBytes({ [TAG]: ENTRIES_OF_LIST, e: e as JsonValue[] }), ""));
    return [...this.#shorten(names), ...rest];
  }
}

/** Where a list is, how a place in it is called, and whether it is all that a channel holds. */
interface ListPlace {
  stream: string;
  to: Destination;
  isChannel?: boolean;
  pathOf?: (place: number) => string;
}

function placeOf(i: number): string {
  return `[${i}]`;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/** Whether an element is a piece of its own, or stands in the list itself. */
function isWorthAName(element: unknown): boolean {
  return typeof element === "string" ? element.length > INLINE_BYTES : isObject(element);
}

/** Members of which the ordinary encoding says that they can't be stored. */
function holdsRefused(object: object): boolean {
  return Object.hasOwn(object, "__proto__") || Object.getOwnPropertySymbols(object).length > 0;
}

/** What most channels hold at most steps: nothing, or a list that only grew. Its length need not be counted. */
function isSurelyShort(json: JsonValue): boolean {
  if (json === null || typeof json === "boolean" || typeof json === "number") return true;
  if (!isObject(json) || Array.isArray(json) || json[TAG] !== LIST) return false;
  const entries = json["e"] as ListEntry[];
  return entries.length <= SHORT_LIST && entries.every((entry) => Array.isArray(entry));
}

/**
 * A Send and its arguments hold the agent's whole state: their members are shared one by one, since as one piece each
 * would hold a copy of the conversation.
 */
function isComposite(value: object, depth = 0): boolean {
  if (Array.isArray(value)) return value.some(isObject);
  if (messageName(value)) return false;
  return Object.values(value).some((member) => {
    if (Array.isArray(member)) return member.some(isObject);
    return depth < 1 && isObject(member) && isComposite(member, depth + 1);
  });
}
