import { AppError } from "@cognition/contract";
import type { Database } from "../sql/database.ts";
import { placeholders } from "../sql/dialect.ts";
import { giveWayAfter, LONGEST_TURN_MS } from "../sql/next-turn.ts";
import type { Statement, Tx } from "../sql/statement.ts";
import { decodeValue } from "./decode.ts";
import { RECORD, TAG } from "./encode.ts";
import type { JsonValue } from "./json-value.ts";
import { messageName } from "./langchain-class.ts";
import { ENTRIES_OF_LIST, LIST, type ListEntry } from "./list-entries.ts";
import { PIECE } from "./piece-encoder.ts";
import { contentHash, type PieceMemory } from "./piece-memory.ts";
import { type ReferenceVisitor, visitReferences } from "./references.ts";
import { parseJson } from "./serializer.ts";
import { shadowOf } from "./shadow.ts";

type Tagged = { [key: string]: JsonValue };

/** What was read names a piece that isn't there: it was swept in between, or the data is damaged. */
export class MissingPiece extends AppError {}

/** Turns stored values back into what they were, fetching the pieces they name, many values at a time. */
export class PieceDecoder {
  readonly #db: Database;
  readonly #lineage: number;
  readonly #where: string;
  readonly #stored = new Map<number, PieceRow["value"]>();
  readonly #json = new Map<number, JsonValue>();
  readonly #used = new Set<number>();
  readonly #values = new Map<number, { value: unknown }>();
  readonly #memory: PieceMemory | undefined;
  #resolved = 0;

  /** With a memory, the objects that come out are known to it: the next checkpoint that holds them only names them. */
  constructor(db: Database, lineage: number, where: string, memory?: PieceMemory) {
    this.#db = db;
    this.#lineage = lineage;
    this.#where = where;
    this.#memory = memory;
  }

  /**
   * Fetches all that the values name, and what that names in turn, in portions, with turns for others in between: a long
   * conversation at once would be a second of everybody's time.
   */
  async fetch(values: readonly JsonValue[]): Promise<void> {
    const steps = this.fetching(values);
    for (let step = steps.next(); !step.done; ) {
      await giveWayAfter(LONGEST_TURN_MS);
      step = steps.next(await this.#db.readAll(step.value));
    }
  }

  /** The same, inside a transaction. Messages are decoded as they come, so that there is little left to do at the end. */
  *fetching(values: readonly JsonValue[]): Tx<void> {
    const named = new Ranges();
    for (const value of values) visitReferences(value, named, this.#where);
    let wanted = named.without(this.#json);
    while (wanted.size > 0) {
      const next = new Ranges();
      for (const portion of wanted.portions()) {
        for (const row of yield* this.#read(portion)) {
          const json = this.#keep(row, next);
          if (json !== undefined && isNamedMessage(json)) this.#piece(row.id);
        }
      }
      wanted = next.without(this.#json);
    }
  }

  /** Gives what names no other pieces. */
  #keep({ id, value }: PieceRow, next: Ranges): JsonValue | undefined {
    const json = this.#parse(id, value);
    const named = next.size;
    this.#stored.set(id, value);
    this.#json.set(id, json);
    visitReferences(json, next, `${this.#where}: piece ${id}`);
    const isLeaf = next.size === named;
    // Objects are known again by themselves; texts, and what names others, by what they say.
    if (!isLeaf || !isKnownByItself(json)) this.#memory?.rememberContent(contentHash(value), id);
    return isLeaf ? json : undefined;
  }

  decode(value: JsonValue): unknown {
    return decodeValue(value, `${this.#where}: a stored value`, (tagged) => {
      this.#resolved++;
      if (tagged[TAG] === LIST) return this.list(tagged["e"] as ListEntry[]);
      if (tagged[TAG] === PIECE) return this.#piece(tagged["p"] as number);
      return undefined;
    });
  }

  /** The numbers of the elements of a list, without their contents; inline ones as they stand. */
  *elements(
    entries: readonly ListEntry[],
    group = (id: number) => this.#jsonOf(id),
  ): Generator<number | { v: JsonValue }> {
    for (const entry of entries) {
      if (typeof entry === "number") yield* this.elements((group(entry) as Tagged)["e"] as ListEntry[], group);
      else if (Array.isArray(entry)) for (let i = 0; i < entry[1]; i++) yield entry[0] + i;
      else yield entry;
    }
  }

  /** The pieces of a list that was fetched, element by element; undefined if it is no list, or holds more than pieces. */
  numbersOf(json: JsonValue | undefined): number[] | undefined {
    const entries = this.entriesOf(json);
    const elements = entries && [...this.elements(entries)];
    return elements?.every((element) => typeof element === "number") ? elements : undefined;
  }

  /** What a list that was fetched is stored as; undefined if it is no list. */
  entriesOf(json: JsonValue | undefined): ListEntry[] | undefined {
    if (json === undefined || (Array.isArray(json) && json.length === 0)) return [];
    if (json === null || typeof json !== "object" || Array.isArray(json)) return undefined;
    if (json[TAG] === PIECE) return this.entriesOf(this.#jsonOf(json["p"] as number));
    return json[TAG] === LIST ? (json["e"] as ListEntry[]) : undefined;
  }

  piece(id: number): unknown {
    return this.#piece(id);
  }

  /** Uses up what stands in the entries themselves. */
  list(entries: readonly ListEntry[]): unknown[] {
    const list: unknown[] = [];
    const seen = new Set<number>();
    for (const element of this.elements(entries, (id) => this.#unused(id))) {
      if (typeof element === "number") {
        list.push(this.#piece(element, seen.has(element)));
        seen.add(element);
      } else list.push(this.decode(element.v));
    }
    return list;
  }

  /** `isTwin`: it stands in the same list already, and was another object there. */
  #piece(id: number, isTwin = false): unknown {
    const known = this.#values.get(id);
    if (known && isSameEverywhere(known.value) && !(isTwin && isObject(known.value))) return known.value;
    const before = this.#resolved;
    const value = this.decode(this.#unused(id));
    // What is made of other pieces is never named as a whole.
    const shadow = this.#resolved === before && this.#memory && isObject(value) && shadowOf(value);
    if (shadow) this.#memory?.remember(value as object, { id, shadow });
    if (!known) this.#values.set(id, { value });
    return value;
  }

  /** Decoding builds its value out of the JSON: whoever comes next needs another. */
  #unused(id: number): JsonValue {
    if (this.#used.has(id)) return this.#parse(id, this.#stored.get(id) as PieceRow["value"]);
    this.#used.add(id);
    return this.#jsonOf(id);
  }

  #parse(id: number, value: PieceRow["value"]): JsonValue {
    return parseJson(value, `${this.#where}: piece ${id}`);
  }

  #jsonOf(id: number): JsonValue {
    const json = this.#json.get(id);
    if (json === undefined) {
      throw new MissingPiece("corrupt_data", `${this.#where}: piece ${id} of lineage ${this.#lineage} is missing`, {
        details: { piece: id },
      });
    }
    return json;
  }

  *#read(merged: readonly [number, number][]): Tx<PieceRow[]> {
    const statements =
      merged.length > RANGES_EACH ? [this.#byNumber(merged)] : merged.map((range) => this.#byRange(range));
    const results = yield statements;
    return results.flatMap((result) => result.rows as unknown as PieceRow[]);
  }

  #byRange([first, count]: [number, number]): Statement {
    const { dialect } = this.#db;
    const sql = `select id, ${dialect.jsonBytes("value")} as value from pieces where lineage = ? and id >= ? and id < ?`;
    return {
      sql: placeholders(dialect, sql),
      params: [this.#lineage, first, first + count],
      prepare: true,
    };
  }

  #byNumber(ranges: readonly [number, number][]): Statement {
    const { dialect } = this.#db;
    const ids = ranges.flatMap(([first, count]) => Array.from({ length: count }, (_, i) => first + i));
    return {
      sql: placeholders(
        dialect,
        `select id, ${dialect.jsonBytes("value")} as value from pieces where lineage = ? and id in (${dialect.eachNumber})`,
      ),
      params: [this.#lineage, JSON.stringify(ids)],
      prepare: true,
    };
  }
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/** Lists and groups of lists are made anew at each step, though they name nothing but what stands in them. */
const MADE_ANEW = new Set<JsonValue | undefined>([LIST, ENTRIES_OF_LIST, RECORD]);

function isKnownByItself(json: JsonValue): boolean {
  return isObject(json) && !MADE_ANEW.has((json as Tagged)[TAG]);
}

/** A message is known by its id wherever it is held. Of other objects only the contents were equal: who changes one must not change both. */
function isSameEverywhere(value: unknown): boolean {
  return !isObject(value) || (messageName(value) !== undefined && (value as { id?: unknown }).id !== undefined);
}

/** One that is the same wherever it is held (`isSameEverywhere`), before it is decoded. */
function isNamedMessage(json: JsonValue): boolean {
  if (!isObject(json) || (json as Tagged)[TAG] !== "message") return false;
  return ((json as Tagged)["v"] as Partial<Tagged> | null)?.["id"] !== undefined;
}

interface PieceRow {
  id: number;
  value: Uint8Array | string;
}

/** A list of many edits is in many places; then one statement with all the numbers is cheaper than one per place. */
const RANGES_EACH = 16;

/** Pieces that are read at a time. */
const PORTION = 500;

class Ranges implements ReferenceVisitor {
  readonly #ranges: [number, number][] = [];

  get size(): number {
    return this.#ranges.length;
  }

  run(first: number, count: number): void {
    this.#ranges.push([first, count]);
  }

  piece(id: number): void {
    this.run(id, 1);
  }

  without(known: ReadonlyMap<number, unknown>): Ranges {
    if (known.size === 0) return this;
    const rest = new Ranges();
    for (const [first, count] of this.merged()) {
      for (let id = first; id < first + count; id++) if (!known.has(id)) rest.piece(id);
    }
    return rest;
  }

  /** So that no answer grows with the thread. */
  *portions(): Generator<[number, number][]> {
    let portion: [number, number][] = [];
    let room = PORTION;
    for (const [first, count] of this.merged()) {
      for (let at = 0; at < count; ) {
        const taken = Math.min(room, count - at);
        portion.push([first + at, taken]);
        at += taken;
        room -= taken;
        if (room > 0) continue;
        yield portion;
        portion = [];
        room = PORTION;
      }
    }
    if (portion.length > 0) yield portion;
  }

  /** In order, overlapping and adjoining ones as one. */
  merged(): [number, number][] {
    const merged: [number, number][] = [];
    for (const [first, count] of this.#ranges.sort(([a], [b]) => a - b)) {
      const last = merged.at(-1);
      if (last && first <= last[0] + last[1]) last[1] = Math.max(last[1], first + count - last[0]);
      else merged.push([first, count]);
    }
    return merged;
  }
}
