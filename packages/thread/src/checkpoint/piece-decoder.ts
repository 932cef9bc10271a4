import { AppError } from "@cognition/contract";
import type { Database } from "../sql/database.ts";
import { placeholders } from "../sql/dialect.ts";
import type { Statement, Tx } from "../sql/statement.ts";
import { decodeValue } from "./decode.ts";
import { encodeValue, TAG } from "./encode.ts";
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
  readonly #json = new Map<number, JsonValue>();
  readonly #values = new Map<number, { value: unknown; isLeaf: boolean }>();
  readonly #memory: PieceMemory | undefined;
  #resolved = 0;

  /** With a memory, the objects that come out are known to it: the next checkpoint that holds them only names them. */
  constructor(db: Database, lineage: number, where: string, memory?: PieceMemory) {
    this.#db = db;
    this.#lineage = lineage;
    this.#where = where;
    this.#memory = memory;
  }

  /** Fetches all that the values name, and what that names in turn. */
  async fetch(values: readonly JsonValue[]): Promise<void> {
    const steps = this.fetching(values);
    for (let step = steps.next(); !step.done; ) step = steps.next(await this.#db.readAll(step.value));
  }

  /** The same, inside a transaction. */
  *fetching(values: readonly JsonValue[]): Tx<void> {
    let wanted = new Ranges();
    for (const value of values) visitReferences(value, wanted);
    while (wanted.size > 0) {
      const next = new Ranges();
      for (const { id, value } of yield* this.#read(wanted)) {
        const json = parseJson(value, `${this.#where}: piece ${id}`);
        this.#json.set(id, json);
        // Objects are known again by themselves, what only names them by what it says.
        if ((json as Tagged | null)?.[TAG] === ENTRIES_OF_LIST) this.#memory?.rememberContent(contentHash(value), id);
        visitReferences(json, next);
      }
      wanted = next.without(this.#json);
    }
  }

  decode(value: JsonValue): unknown {
    return decodeValue(value, (tagged) => {
      this.#resolved++;
      if (tagged[TAG] === LIST) return this.list(tagged["e"] as ListEntry[]);
      if (tagged[TAG] === PIECE) return this.#piece(tagged["p"] as number);
      return undefined;
    });
  }

  /** The numbers of the elements of a list, without their contents; inline ones as they stand. */
  *elements(entries: readonly ListEntry[]): Generator<number | { v: JsonValue }> {
    for (const entry of entries) {
      if (typeof entry === "number") yield* this.elements((this.#stored(entry) as Tagged)["e"] as ListEntry[]);
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
    if (json[TAG] === PIECE) return this.entriesOf(this.#stored(json["p"] as number));
    return json[TAG] === LIST ? (json["e"] as ListEntry[]) : undefined;
  }

  piece(id: number): unknown {
    return this.#piece(id);
  }

  list(entries: readonly ListEntry[]): unknown[] {
    const list: unknown[] = [];
    for (const element of this.elements(entries)) {
      list.push(typeof element === "number" ? this.#piece(element) : this.#inlined(element));
    }
    return list;
  }

  #inlined(element: { v: JsonValue }): unknown {
    if (typeof element.v !== "object") return element.v;
    return this.decode(structuredClone(element.v));
  }

  #piece(id: number): unknown {
    const known = this.#values.get(id);
    if (known && isSameEverywhere(known.value)) return known.value;
    const before = this.#resolved;
    const value = known ? decodeValue(encodeValue(known.value, this.#where)) : this.decode(this.#stored(id));
    const isLeaf = known?.isLeaf ?? this.#resolved === before;
    // What is made of other pieces is never named as a whole.
    const shadow = isLeaf && this.#memory && isObject(value) && shadowOf(value);
    if (shadow) this.#memory?.remember(value as object, { id, shadow });
    if (!known) this.#values.set(id, { value, isLeaf });
    return value;
  }

  #stored(id: number): JsonValue {
    const json = this.#json.get(id);
    if (json === undefined) {
      throw new MissingPiece("corrupt_data", `${this.#where}: piece ${id} of lineage ${this.#lineage} is missing`, {
        details: { piece: id },
      });
    }
    return json;
  }

  *#read(ranges: Ranges): Tx<PieceRow[]> {
    const merged = ranges.merged();
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

/** A message is itself wherever it is held. Of other objects only the contents were equal: who changes one must not change both. */
function isSameEverywhere(value: unknown): boolean {
  return !isObject(value) || messageName(value) !== undefined;
}

interface PieceRow {
  id: number;
  value: Uint8Array | string;
}

/** A list of many edits is in many places; then one statement with all the numbers is cheaper than one per place. */
const RANGES_EACH = 16;

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
    const rest = new Ranges();
    for (const [first, count] of this.#ranges) {
      if (count > 1 || !known.has(first)) rest.run(first, count);
    }
    return rest;
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
