import { type Dialect, placeholders } from "../sql/dialect.ts";
import { inPortions, textByRows, valuesTable } from "../sql/row-portions.ts";
import type { SqlValue, Statement } from "../sql/statement.ts";
import type { NewPiece } from "./piece-encoder.ts";

/** Every row of a write finds its thread by name, so that nothing waits for the statement that made or locked it. */

function prepared(dialect: Dialect, sql: string, params: SqlValue[]): Statement {
  return { sql: placeholders(dialect, sql), params, prepare: true };
}

export function ensureThread(dialect: Dialect, thread_id: string, created_at: string): Statement {
  const sql =
    "insert into threads (thread_id, scope, created_at) values (?, '{}', ?) on conflict (thread_id) do nothing";
  return prepared(dialect, sql, [thread_id, created_at]);
}

export interface ThreadGuard {
  thread_id: string;
  /** What the write adds. */
  checkpoints: number;
  events: number;
  bytes: number;
  /** The root checkpoint that is the newest from now on, if the write holds one. */
  head: string | undefined;
  /** What must be true of the thread, or nothing is written. */
  epoch: number | undefined;
  generation: number | undefined;
  /** The head that the writer has seen (null for none), when it must still be so. */
  expectedHead: string | null | undefined;
  ttl_ms: number | undefined;
}

/** Locks the thread's row, checks the fence and hands out numbers; the first statement of every write. */
export function guardThread(dialect: Dialect, guard: ThreadGuard): Statement {
  const { epoch, generation, expectedHead, ttl_ms } = guard;
  const sets = ["checkpoint_seq = checkpoint_seq + ?", "event_seq = event_seq + ?", "bytes = bytes + ?"];
  const values: SqlValue[] = [guard.checkpoints, guard.events, guard.bytes];
  const conditions = ["thread_id = ?", "deleted_at is null"];
  const expected: SqlValue[] = [guard.thread_id];
  if (guard.head !== undefined) {
    sets.push("head = ?");
    values.push(guard.head);
  }
  if (ttl_ms !== undefined) {
    sets.push(`expires_at = ${dialect.nowMs} + ?`);
    values.push(ttl_ms);
  }
  if (epoch !== undefined) {
    conditions.push("epoch = ?");
    expected.push(epoch);
  }
  if (generation !== undefined) {
    conditions.push("generation = ?");
    expected.push(generation);
  }
  if (expectedHead === null) conditions.push("head is null");
  else if (expectedHead !== undefined) {
    conditions.push("head = ?");
    expected.push(expectedHead);
  }
  const sql = `update threads set ${sets.join(", ")} where ${conditions.join(" and ")} returning pk, event_seq, generation`;
  return prepared(dialect, sql, [...values, ...expected]);
}

const PIECES = textByRows(
  (dialect, rows) => `insert into pieces (lineage, id, value)
    select coalesce(t.lineage, t.pk), v.column1, v.column2
    from threads t, ${valuesTable(dialect, rows, ["bigint", "bytes"])} v where t.thread_id = ?`,
);

export function insertPieces(dialect: Dialect, thread_id: string, pieces: readonly NewPiece[]): Statement[] {
  return Array.from(inPortions(pieces), (portion) => ({
    sql: PIECES(dialect, portion.length),
    params: [...portion.flatMap(({ id, value }) => [id, value]), thread_id],
    prepare: true,
  }));
}

export interface CheckpointInsert {
  ns: string;
  checkpoint_id: string;
  parent_id: string | null;
  body: Uint8Array;
  metadata: string;
  /** The files of the workspace as they were. */
  snapshot: string | null;
}

const CHECKPOINTS = textByRows(
  (dialect, rows) => `insert into checkpoints (thread, seq, ns, checkpoint_id, parent_id, body, metadata, snapshot)
    select t.pk, t.checkpoint_seq - v.column1, v.column2, v.column3, v.column4, v.column5, v.column6, v.column7
    from threads t, ${valuesTable(dialect, rows, ["bigint", "text", "text", "text", "bytes", "text", "text"])} v
    where t.thread_id = ?
    on conflict (thread, ns, checkpoint_id) do update
    set body = excluded.body, metadata = excluded.metadata, parent_id = excluded.parent_id, snapshot = excluded.snapshot`,
);

/** The same id again replaces what it held, and keeps its place in the order. */
export function insertCheckpoints(
  dialect: Dialect,
  thread_id: string,
  checkpoints: readonly CheckpointInsert[],
): Statement[] {
  const of = checkpoints.length;
  const rows = checkpoints.map((row, i) => ({ ...row, before: of - i - 1 }));
  const portions = withoutRepeats(rows).flatMap((distinct) => [...inPortions(distinct)]);
  return portions.map((portion) => {
    const params = portion.flatMap((row) => [
      row.before,
      row.ns,
      row.checkpoint_id,
      row.parent_id,
      row.body,
      row.metadata,
      row.snapshot,
    ]);
    return { sql: CHECKPOINTS(dialect, portion.length), params: [...params, thread_id], prepare: true };
  });
}

/** One statement can't replace a row twice. */
function withoutRepeats<T extends CheckpointInsert>(rows: readonly T[]): T[][] {
  const groups: T[][] = [];
  let names = new Set<string>();
  for (const row of rows) {
    const name = `${row.ns}\0${row.checkpoint_id}`;
    if (groups.length === 0 || names.has(name)) {
      groups.push([]);
      names = new Set();
    }
    names.add(name);
    groups.at(-1)?.push(row);
  }
  return groups;
}

export interface WriteInsert {
  ns: string;
  checkpoint_id: string;
  task_id: string;
  idx: number;
  channel: string;
  value: Uint8Array;
  /** Errors, interrupts and resume values replace the earlier one; of ordinary writes the first stays. */
  replace: boolean;
}

/** Ordinary writes go together; those that replace each on its own, since one statement can't replace a row twice. */
export function insertWrites(dialect: Dialect, thread_id: string, writes: readonly WriteInsert[]): Statement[] {
  const groups: WriteInsert[][] = [];
  for (const write of writes) {
    const last = groups.at(-1);
    if (last && !write.replace && !last[0]?.replace) last.push(write);
    else groups.push([write]);
  }
  return groups.flatMap((group) =>
    Array.from(inPortions(group), (portion) => insertPortion(dialect, thread_id, portion)),
  );
}

const writesText = (conflict: string) =>
  textByRows(
    (dialect, rows) => `insert into checkpoint_writes (thread, ns, checkpoint_id, task_id, idx, channel, value)
      select t.pk, v.column1, v.column2, v.column3, v.column4, v.column5, v.column6
      from threads t, ${valuesTable(dialect, rows, ["text", "text", "text", "bigint", "text", "bytes"])} v
      where t.thread_id = ?
      on conflict (thread, ns, checkpoint_id, task_id, idx) ${conflict}`,
  );
const REPLACING_WRITES = writesText("do update set channel = excluded.channel, value = excluded.value");
const ORDINARY_WRITES = writesText("do nothing");

function insertPortion(dialect: Dialect, thread_id: string, writes: readonly WriteInsert[]): Statement {
  const text = writes[0]?.replace ? REPLACING_WRITES : ORDINARY_WRITES;
  const rows = writes.flatMap((row) => [row.ns, row.checkpoint_id, row.task_id, row.idx, row.channel, row.value]);
  return { sql: text(dialect, writes.length), params: [...rows, thread_id], prepare: true };
}
