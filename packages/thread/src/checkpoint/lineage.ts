import { type Dialect, placeholders } from "../sql/dialect.ts";
import { all, type QueryResult, type SqlValue, type Tx } from "../sql/statement.ts";
import { type ReferenceVisitor, visitReferences } from "./references.ts";
import { parseJson } from "./serializer.ts";

/** Reads and deletes in portions, so that neither a statement nor its answer grows with the thread. */
const PORTION = 500;

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
  for (const table of ["checkpoints", "checkpoint_writes"] as const) yield* markRows(dialect, table, lineage, marked);
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

/** Of deletions that return their `bytes`, which are counted as the writer counts them. */
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

function* markRows(
  dialect: Dialect,
  table: "checkpoints" | "checkpoint_writes",
  lineage: number,
  marked: Marks,
): Tx<void> {
  const column = table === "checkpoints" ? "body" : "value";
  const order = table === "checkpoints" ? "x.thread, x.seq" : "x.thread, x.ns, x.checkpoint_id, x.task_id, x.idx";
  for (let offset = 0; ; offset += PORTION) {
    const [portion] = yield* all([
      {
        sql: placeholders(
          dialect,
          `select x.${column} as value from ${table} x join threads t on t.pk = x.thread
           where t.pk = ? or t.lineage = ? order by ${order} limit ${PORTION} offset ?`,
        ),
        params: [lineage, lineage, offset],
      },
    ]);
    const found = portion?.rows ?? [];
    for (const { value } of found) visitReferences(parseJson(value as Uint8Array, `A row of ${table}`), marked);
    if (found.length < PORTION) return;
  }
}

/** The encodings of whole channels and the continuations of long lists name further pieces. */
function* markNested(dialect: Dialect, lineage: number, marked: Marks): Tx<void> {
  for (let wanted = marked.takeUnread(); wanted.length > 0; wanted = marked.takeUnread()) {
    for (let i = 0; i < wanted.length; i += PORTION) {
      const [portion] = yield* all([
        {
          sql: placeholders(dialect, `select value from pieces where lineage = ? and id in (${dialect.eachNumber})`),
          params: [lineage, JSON.stringify(wanted.slice(i, i + PORTION))],
        },
      ]);
      for (const { value } of portion?.rows ?? []) visitReferences(parseJson(value as Uint8Array, "A piece"), marked);
    }
  }
}

/** The pieces that are named, of which those that may name others are read once. */
class Marks implements ReferenceVisitor {
  readonly #ids = new Set<number>();
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
    for (let i = 0; i < count; i++) this.#ids.add(first + i);
  }

  piece(id: number): void {
    if (this.#ids.has(id)) return;
    this.#ids.add(id);
    this.#unread.push(id);
  }
}
