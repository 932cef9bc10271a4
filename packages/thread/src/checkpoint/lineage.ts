import { type Dialect, placeholders } from "../sql/dialect.ts";
import { all, type QueryResult, type SqlValue, type Tx } from "../sql/statement.ts";
import { type ReferenceVisitor, visitReferences } from "./references.ts";
import { parseJson } from "./serializer.ts";

/** Reads and deletes in portions, so that neither a statement nor its answer grows with the thread. */
export const PORTION = 500;

export interface LineageThread {
  pk: number;
  thread_id: string;
  deleted_at: string | null;
}

/** A thread with all that were ever forked from the same beginning, locked against every write until the commit. */
export function* lockLineage(
  dialect: Dialect,
  thread_id: string,
): Tx<{ lineage: number; threads: LineageThread[] } | undefined> {
  const [found] = yield* all([
    {
      sql: placeholders(dialect, "select coalesce(lineage, pk) as lineage from threads where thread_id = ?"),
      params: [thread_id],
    },
  ]);
  const lineage = found?.rows[0]?.["lineage"] as number | undefined;
  if (lineage === undefined) return undefined;
  const [threads] = yield* all([
    {
      sql: placeholders(
        dialect,
        `select pk, thread_id, deleted_at from threads where pk = ? or lineage = ? order by pk${dialect.lockRows}`,
      ),
      params: [lineage, lineage],
    },
  ]);
  return { lineage, threads: threads?.rows as unknown as LineageThread[] };
}

/**
 * Removes the pieces that no checkpoint and no pending write of the lineage names any more. The caller has locked the
 * lineage. Raising the generation voids what other processes remember of its pieces.
 */
export function* sweepLineage(dialect: Dialect, lineage: number): Tx<{ pieces: number; bytes: number }> {
  const marked = new Marks();
  const [threads] = yield* all([
    { sql: placeholders(dialect, "select pk from threads where pk = ? or lineage = ?"), params: [lineage, lineage] },
  ]);
  for (const { pk } of threads?.rows ?? [])
    for (const table of NAMING) yield* markRows(dialect, table, pk as number, marked);
  yield* markNested(dialect, lineage, marked);
  const [stored] = yield* all([
    { sql: placeholders(dialect, "select id from pieces where lineage = ? order by id"), params: [lineage] },
  ]);
  const garbage = (stored?.rows ?? []).map(({ id }) => id as number).filter((id) => !marked.has(id));
  let bytes = 0;
  for (let i = 0; i < garbage.length; i += PORTION) {
    bytes += sumOf(yield* all([deletePieces(dialect, lineage, garbage.slice(i, i + PORTION))]));
  }
  yield* all([
    {
      sql: placeholders(dialect, "update threads set generation = generation + 1 where pk = ? or lineage = ?"),
      params: [lineage, lineage],
    },
  ]);
  return { pieces: garbage.length, bytes };
}

/** What a row takes, as the writer counts it. */
export const CHECKPOINT_BYTES = `8 + length(ns) + length(checkpoint_id) + coalesce(length(parent_id), 0) + length(body)
  + length(metadata) + coalesce(length(snapshot), 0)`;
export const WRITE_BYTES = `8 + length(ns) + length(checkpoint_id) + length(task_id) + length(channel) + length(value)
  + length(task_path)`;

/** Of statements that return their `bytes`. */
export function sumOf(results: readonly QueryResult[]): number {
  return results.flatMap(({ rows }) => rows).reduce((sum, { bytes }) => sum + Number(bytes), 0);
}

function deletePieces(dialect: Dialect, lineage: number, ids: number[]) {
  return {
    sql: placeholders(
      dialect,
      `delete from pieces where lineage = ? and id in (${dialect.eachNumber}) returning 8 + length(value) as bytes`,
    ),
    params: [lineage, JSON.stringify(ids)] as SqlValue[],
  };
}

/** Tables whose rows name pieces, and what their rows of a thread are in the order of. */
const NAMING = [
  { table: "checkpoints", value: "body", key: ["seq"] },
  { table: "checkpoint_writes", value: "value", key: ["ns", "checkpoint_id", "task_id", "idx"] },
] as const;

/** Each portion begins after the last one's end: with an offset, all rows before it would be gone through again. */
function* markRows(
  dialect: Dialect,
  { table, value, key }: (typeof NAMING)[number],
  thread: number,
  marked: Marks,
): Tx<void> {
  const columns = key.join(", ");
  for (let last: SqlValue[] = []; ; ) {
    const after = last.length > 0 ? `and (${columns}) > (${last.map(() => "?").join(", ")})` : "";
    const sql = `select ${columns}, ${value} as named from ${table} where thread = ? ${after} order by ${columns} limit ${PORTION}`;
    const [portion] = yield* all([{ sql: placeholders(dialect, sql), params: [thread, ...last] }]);
    const found = portion?.rows ?? [];
    for (const { named } of found) markNames(named as Uint8Array, `A row of ${table}`, marked);
    const end = found.at(-1);
    if (!end || found.length < PORTION) return;
    last = key.map((column) => end[column] as SqlValue);
  }
}

function markNames(stored: Uint8Array, where: string, marked: Marks): void {
  visitReferences(parseJson(stored, where), marked, where);
}

/** The encodings of whole channels and the groups of long lists name further pieces. */
function* markNested(dialect: Dialect, lineage: number, marked: Marks): Tx<void> {
  for (let wanted = marked.takeUnread(); wanted.length > 0; wanted = marked.takeUnread()) {
    for (let i = 0; i < wanted.length; i += PORTION) {
      const [portion] = yield* all([
        {
          sql: placeholders(dialect, `select value from pieces where lineage = ? and id in (${dialect.eachNumber})`),
          params: [lineage, JSON.stringify(wanted.slice(i, i + PORTION))],
        },
      ]);
      for (const { value } of portion?.rows ?? []) markNames(value as Uint8Array, "A piece", marked);
    }
  }
}

/** The pieces that are named, of which those that may name others are read once. */
class Marks implements ReferenceVisitor {
  readonly #ids = new Set<number>();
  /** How far runs that begin with the same piece were counted: each version of a list names the run that it grew. */
  readonly #runs = new Map<number, number>();
  #unread: number[] = [];

  has(id: number): boolean {
    return this.#ids.has(id);
  }

  takeUnread(): number[] {
    const unread = this.#unread;
    this.#unread = [];
    return unread;
  }

  run(first: number, count: number): void {
    const counted = this.#runs.get(first) ?? 0;
    for (let i = counted; i < count; i++) this.#ids.add(first + i);
    if (count > counted) this.#runs.set(first, count);
  }

  piece(id: number): void {
    if (this.#ids.has(id)) return;
    this.#ids.add(id);
    this.#unread.push(id);
  }
}
