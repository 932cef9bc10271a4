import { type Dialect, prepared } from "../sql/dialect.ts";
import { inPortions, textByRows, valuesTable } from "../sql/row-portions.ts";
import type { SqlValue, Statement } from "../sql/statement.ts";
import type { NewPiece } from "./piece-encoder.ts";

/**
 * Every row of a write finds its thread by name, so that nothing waits for the statement that made or locked it; or, in
 * one statement with it, by what the guard gives back.
 */
export interface ThreadSource {
  from: string;
  where: string;
}
const BY_NAME: ThreadSource = { from: "threads t", where: "where t.thread_id = ?" };

/** A text for so many rows, with `?` in the place of each value. */
type SqlByRows = (dialect: Dialect, rows: number) => string;

export function ensureThread(dialect: Dialect, thread_id: string, created_at: string): Statement {
  const sql =
    "insert into threads (thread_id, scope, created_at) values (?, '{}', ?) on conflict (thread_id) do nothing";
  return prepared(dialect, sql, [thread_id, created_at]);
}

export interface Reached {
  checkpoint_seq: number;
  event_seq: number;
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
  /** How far the thread had come with the writer's last commit: it never goes back, unless the database has lost that. */
  reached: Reached | undefined;
  /** The head that the writer has seen (null for none), when it must still be so. */
  expectedHead: string | null | undefined;
  ttl_ms: number | undefined;
  /** Ends the lease, as in `advanceLeased`. */
  ends: boolean;
}

const GIVES = "pk, lineage, checkpoint_seq, event_seq, generation";

/** Locks the thread's row, checks the fence and hands out numbers; the first statement of every write. */
export function guardThread(dialect: Dialect, guard: ThreadGuard): { sql: string; params: SqlValue[] } {
  const { epoch, generation, reached, expectedHead, ttl_ms } = guard;
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
  if (guard.ends) sets.push("epoch = epoch + 1", "lease_owner = null", "lease_until = null");
  if (epoch !== undefined) {
    conditions.push("epoch = ?");
    expected.push(epoch);
  }
  if (generation !== undefined) {
    conditions.push("generation = ?");
    expected.push(generation);
  }
  if (reached !== undefined) {
    conditions.push("checkpoint_seq >= ?", "event_seq >= ?");
    expected.push(reached.checkpoint_seq, reached.event_seq);
  }
  if (expectedHead === null) conditions.push("head is null");
  else if (expectedHead !== undefined) {
    conditions.push("head = ?");
    expected.push(expectedHead);
  }
  const sql = `update threads set ${sets.join(", ")} where ${conditions.join(" and ")} returning ${GIVES}`;
  return { sql, params: [...values, ...expected] };
}

export const piecesSql =
  ({ from, where }: ThreadSource): SqlByRows =>
  (dialect, rows) =>
    `insert into pieces (lineage, id, value)
    select coalesce(t.lineage, t.pk), v.column1, v.column2
    from ${from}, ${valuesTable(dialect, rows, ["bigint", "bytes"])} v ${where}`;
const PIECES = textByRows(piecesSql(BY_NAME));

export function pieceParams(pieces: readonly NewPiece[]): SqlValue[] {
  return pieces.flatMap(({ id, value }) => [id, value]);
}

export function insertPieces(dialect: Dialect, thread_id: string, pieces: readonly NewPiece[]): Statement[] {
  return Array.from(inPortions(pieces), (portion) => ({
    sql: PIECES(dialect, portion.length),
    params: [...pieceParams(portion), thread_id],
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

/**
 * With durability "exit", LangGraph puts a checkpoint that nothing came after once more, as its own parent: it keeps the one
 * it had, since a walk up the ancestry must end.
 */
export const checkpointsSql =
  ({ from, where }: ThreadSource): SqlByRows =>
  (dialect, rows) =>
    `insert into checkpoints (thread, seq, ns, checkpoint_id, parent_id, body, metadata, snapshot)
      select t.pk, t.checkpoint_seq - v.column1, v.column2, v.column3, nullif(v.column4, v.column3), v.column5, v.column6, v.column7
      from ${from}, ${valuesTable(dialect, rows, ["bigint", "text", "text", "text", "bytes", "text", "text"])} v ${where}
      on conflict (thread, ns, checkpoint_id) do update
      set body = excluded.body, metadata = excluded.metadata, parent_id = coalesce(excluded.parent_id, checkpoints.parent_id),
        snapshot = excluded.snapshot`;
const CHECKPOINTS = textByRows(checkpointsSql(BY_NAME));

/** `before`: how many of the same write come after it. */
export function checkpointParams(row: CheckpointInsert, before: number): SqlValue[] {
  return [before, row.ns, row.checkpoint_id, row.parent_id, row.body, row.metadata, row.snapshot];
}

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
    const params = portion.flatMap((row) => checkpointParams(row, row.before));
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
  task_path: string;
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

/**
 * The order in which LangGraph applies a step's writes. Only from 1.5 on does it tell the paths of the tasks; their ids, which
 * are hashes, put the updates of a delta channel in another order than the one in which they were applied.
 */
export const AS_APPLIED = "task_path, task_id, idx";

export const writesSql =
  (conflict: string, { from, where }: ThreadSource): SqlByRows =>
  (dialect, rows) =>
    `insert into checkpoint_writes (thread, ns, checkpoint_id, task_id, idx, channel, value, task_path)
    select t.pk, v.column1, v.column2, v.column3, v.column4, v.column5, v.column6, v.column7
    from ${from}, ${valuesTable(dialect, rows, ["text", "text", "text", "bigint", "text", "bytes", "text"])} v ${where}
    on conflict (thread, ns, checkpoint_id, task_id, idx) ${conflict}`;
const REPLACE = "do update set channel = excluded.channel, value = excluded.value";
const REPLACING_WRITES = textByRows(writesSql(REPLACE, BY_NAME));
const ORDINARY_WRITES = textByRows(writesSql("do nothing", BY_NAME));

function insertPortion(dialect: Dialect, thread_id: string, writes: readonly WriteInsert[]): Statement {
  const text = writes[0]?.replace ? REPLACING_WRITES : ORDINARY_WRITES;
  return { sql: text(dialect, writes.length), params: [...writeParams(writes), thread_id], prepare: true };
}

export function writeParams(writes: readonly WriteInsert[]): SqlValue[] {
  return writes.flatMap((row) => [
    row.ns,
    row.checkpoint_id,
    row.task_id,
    row.idx,
    row.channel,
    row.value,
    row.task_path,
  ]);
}
