import type { Database } from "../sql/database.ts";
import { placeholders } from "../sql/dialect.ts";
import type { Statement, Tx } from "../sql/statement.ts";
import { TAG } from "./encode.ts";
import type { JsonValue } from "./json-value.ts";
import { ENTRIES_OF_LIST, LIST, type ListEntry } from "./list-entries.ts";
import { PIECE } from "./piece-encoder.ts";
import { parseJson } from "./serializer.ts";

type Tagged = { [key: string]: JsonValue };

/**
 * The numbers of the elements of stored lists, without reading the elements: only the pieces that continue a list are
 * fetched. Undefined for what is no list, or holds something else than pieces.
 */
export function* listNumbers(
  db: Database,
  lineage: number,
  lists: readonly (JsonValue | undefined)[],
): Tx<(number[] | undefined)[]> {
  const known = new Map<number, JsonValue>();
  for (;;) {
    const missing = new Set<number>();
    const numbers = lists.map((list) => numbersOf(list, known, missing));
    if (missing.size === 0) return numbers;
    const [found] = yield [selectPieces(db, lineage, [...missing])];
    for (const row of found?.rows ?? []) {
      known.set(row["id"] as number, parseJson(row["value"] as Uint8Array, `Piece ${row["id"]}`));
    }
    // A piece that is not there would be asked for without end.
    for (const id of missing) if (!known.has(id)) known.set(id, null);
  }
}

export function selectPieces({ dialect }: Database, lineage: number, ids: readonly number[]): Statement {
  const sql = `select id, value from pieces where lineage = ? and id in (${dialect.eachNumber})`;
  return { sql: placeholders(dialect, sql), params: [lineage, JSON.stringify(ids)], prepare: true };
}

function numbersOf(
  list: JsonValue | undefined,
  known: ReadonlyMap<number, JsonValue>,
  missing: Set<number>,
): number[] | undefined {
  if (list === undefined || (Array.isArray(list) && list.length === 0)) return [];
  if (list === null || typeof list !== "object" || Array.isArray(list)) return undefined;
  if (list[TAG] === PIECE) return continued(list["p"] as number, known, missing);
  if (list[TAG] !== LIST && list[TAG] !== ENTRIES_OF_LIST) return undefined;
  const numbers: number[] = [];
  for (const entry of (list as Tagged)["e"] as ListEntry[]) {
    const more = typeof entry === "number" ? continued(entry, known, missing) : runOf(entry);
    if (!more) return undefined;
    for (const number of more) numbers.push(number);
  }
  return numbers;
}

function runOf(entry: Exclude<ListEntry, number>): number[] | undefined {
  if (!Array.isArray(entry)) return undefined;
  const [first, count] = entry;
  return Array.from({ length: count }, (_, i) => first + i);
}

function continued(id: number, known: ReadonlyMap<number, JsonValue>, missing: Set<number>): number[] | undefined {
  if (known.has(id)) return numbersOf(known.get(id), known, missing);
  missing.add(id);
  return [];
}
