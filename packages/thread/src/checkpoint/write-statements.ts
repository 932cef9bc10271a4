import { type Dialect, placeholders } from "../sql/dialect.ts";
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

export function insertPiece(dialect: Dialect, thread_id: string, { id, value }: NewPiece): Statement {
  const sql = `insert into pieces (lineage, id, value)
    select coalesce(t.lineage, t.pk), cast(? as ${dialect.bigint}), cast(? as ${dialect.bytes}) from threads t where t.thread_id = ?`;
  return prepared(dialect, sql, [id, value, thread_id]);
}

export interface CheckpointInsert {
  thread_id: string;
  ns: string;
  checkpoint_id: string;
  parent_id: string | null;
  body: Uint8Array;
  metadata: string;
  /** Its place among the `of` checkpoints of this write, from 1. */
  place: number;
  of: number;
}

/** The same id again replaces what it held, and keeps its place in the order. */
export function insertCheckpoint(dialect: Dialect, row: CheckpointInsert): Statement {
  const sql = `insert into checkpoints (thread, seq, ns, checkpoint_id, parent_id, body, metadata)
    select t.pk, t.checkpoint_seq - cast(? as ${dialect.bigint}), cast(? as text), cast(? as text), cast(? as text),
      cast(? as ${dialect.bytes}), cast(? as text)
    from threads t where t.thread_id = ?
    on conflict (thread, ns, checkpoint_id) do update
    set body = excluded.body, metadata = excluded.metadata, parent_id = excluded.parent_id`;
  const { ns, checkpoint_id, parent_id, body, metadata, thread_id } = row;
  return prepared(dialect, sql, [row.of - row.place, ns, checkpoint_id, parent_id, body, metadata, thread_id]);
}

export interface WriteInsert {
  thread_id: string;
  ns: string;
  checkpoint_id: string;
  task_id: string;
  idx: number;
  channel: string;
  value: Uint8Array;
  /** Errors, interrupts and resume values replace the earlier one; of ordinary writes the first stays. */
  replace: boolean;
}

export function insertWrite(dialect: Dialect, row: WriteInsert): Statement {
  const conflict = row.replace ? "do update set channel = excluded.channel, value = excluded.value" : "do nothing";
  const sql = `insert into checkpoint_writes (thread, ns, checkpoint_id, task_id, idx, channel, value)
    select t.pk, cast(? as text), cast(? as text), cast(? as text), cast(? as ${dialect.bigint}), cast(? as text),
      cast(? as ${dialect.bytes})
    from threads t where t.thread_id = ?
    on conflict (thread, ns, checkpoint_id, task_id, idx) ${conflict}`;
  const { ns, checkpoint_id, task_id, idx, channel, value, thread_id } = row;
  return prepared(dialect, sql, [ns, checkpoint_id, task_id, idx, channel, value, thread_id]);
}
