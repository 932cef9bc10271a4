import { AppError } from "@cognition/contract";
import type { SqlContext } from "../sql/context.ts";
import { type Dialect, placeholders } from "../sql/dialect.ts";
import { all, type SqlValue, type Statement, type Tx } from "../sql/statement.ts";
import { type CheckpointBody, parseBody } from "./checkpoint-body.ts";
import { DELTA_NOTE, deltaChannels, leansOnParent } from "./delta-channels.ts";
import { keptStates } from "./kept-states.ts";
import { partOf, partOfText } from "./part-of.ts";

interface SourceRow {
  seq: number;
  ns: string;
  checkpoint_id: string;
  parent_id: string | null;
  body: Uint8Array;
}

/**
 * Makes `to` a thread of the same lineage. Without a checkpoint it gets the whole tree; with one it begins there, with
 * that checkpoint and what still belongs to it, so that a fork of a long thread costs no more than of a short one.
 */
export async function copyThread(
  ctx: SqlContext,
  from: string,
  to: string,
  { checkpoint_id, ...unknown }: { checkpoint_id?: string },
): Promise<void> {
  const [name] = Object.keys(unknown);
  // As none it would copy what came after the checkpoint that was meant.
  if (name !== undefined)
    throw new AppError("validation_failed", `copyThread has no option ${name}, only checkpoint_id`);
  await ctx.db.transaction(() => copyThreadBody(ctx, from, to, checkpoint_id === undefined ? {} : { checkpoint_id }));
}

export function* copyThreadBody(
  { db, now }: SqlContext,
  from: string,
  to: string,
  { checkpoint_id }: { checkpoint_id?: string },
): Tx<void> {
  const { dialect } = db;
  const run = (sql: string, params: SqlValue[]): Statement => ({ sql: placeholders(dialect, sql), params });
  // The lock keeps a prune of the source from sweeping what the copy is about to name.
  const [source] = yield* all([
    run(`select pk, head from threads where thread_id = ? and deleted_at is null${dialect.lockRows}`, [from]),
  ]);
  const thread = source?.rows[0] as { pk: number; head: string | null } | undefined;
  if (!thread) throw new AppError("thread_not_found", `There is no thread ${from}`);
  const [made] = yield* all([
    run(
      `insert into threads (thread_id, scope, lineage, generation, head, checkpoint_seq, created_at)
       select cast(? as text), t.scope, coalesce(t.lineage, t.pk), t.generation, cast(? as text), t.checkpoint_seq, cast(? as text)
       from threads t where t.pk = ? on conflict (thread_id) do nothing returning pk`,
      [to, checkpoint_id ?? thread.head, now(), thread.pk],
    ),
  ]);
  const copy = made?.rows[0]?.["pk"] as number | undefined;
  if (copy === undefined) throw new AppError("already_exists", `There is a thread ${to} already, or there was one`);
  if (checkpoint_id === undefined) yield* all(copyAll(run, thread.pk, copy));
  else yield* copyFrom(dialect, run, { from, source: thread.pk, copy, checkpoint_id });
}

type Run = (sql: string, params: SqlValue[]) => Statement;

function copyAll(run: Run, source: number, copy: number): Statement[] {
  return [
    run(
      `insert into checkpoints (thread, seq, ns, checkpoint_id, parent_id, body, metadata, snapshot)
       select cast(? as bigint), seq, ns, checkpoint_id, parent_id, body, metadata, snapshot from checkpoints where thread = ?`,
      [copy, source],
    ),
    run(
      `insert into checkpoint_writes (thread, ns, checkpoint_id, task_id, idx, channel, value, task_path)
       select cast(? as bigint), ns, checkpoint_id, task_id, idx, channel, value, task_path from checkpoint_writes where thread = ?`,
      [copy, source],
    ),
  ];
}

interface Fork {
  from: string;
  source: number;
  copy: number;
  checkpoint_id: string;
}

function* copyFrom(dialect: Dialect, run: Run, { from, source, copy, checkpoint_id }: Fork): Tx<void> {
  const row = yield* findRow(run, source, "", checkpoint_id);
  if (!row) throw new AppError("checkpoint_not_found", `Thread ${from} has no checkpoint ${checkpoint_id}`);
  const seqs = [row, ...(yield* leantOn(run, source, row))].map(({ seq }) => seq);
  yield* all(copyCheckpoints(dialect, run, { source, copy, seqs }));
  yield* copySubgraphs(dialect, run, { source, copy, row });
}

export function* findRow(run: Run, thread: number, ns: string, checkpoint_id: string): Tx<SourceRow | undefined> {
  const sql =
    "select seq, ns, checkpoint_id, parent_id, body from checkpoints where thread = ? and ns = ? and checkpoint_id = ?";
  const [found] = yield* all([run(sql, [thread, ns, checkpoint_id])]);
  return found?.rows[0] as unknown as SourceRow | undefined;
}

/** A delta channel's value is in the writes of its ancestors, up to the one that has a snapshot: these, nearest first. */
export function* leantOn(run: Run, thread: number, checkpoint: SourceRow): Tx<SourceRow[]> {
  if (!mayLean(bodyOf(checkpoint))) return [];
  const [noted] = yield* all([
    run("select metadata from checkpoints where thread = ? and ns = ? and metadata like ?", [
      thread,
      checkpoint.ns,
      `%${DELTA_NOTE}%`,
    ]),
  ]);
  const deltas = deltaChannels((noted?.rows ?? []).map(({ metadata }) => String(metadata)));
  const ancestors: SourceRow[] = [];
  for (let row: SourceRow | undefined = checkpoint; row?.parent_id && leansOnParent(bodyOf(row), deltas); ) {
    row = yield* findRow(run, thread, row.ns, row.parent_id);
    if (row) ancestors.push(row);
  }
  return ancestors;
}

/** Whether it could lean on its parent at all: that it does is known only from a look at the whole thread. */
function mayLean({ v, channels }: CheckpointBody): boolean {
  const isOwn = (name: string) => !name.startsWith("__") && !name.startsWith("branch:");
  return (
    v < 4 ||
    Object.entries(channels).some(([name, [version, value]]) => isOwn(name) && version !== null && value === undefined)
  );
}

function bodyOf({ body, checkpoint_id }: SourceRow): CheckpointBody {
  return parseBody(body, `Checkpoint ${checkpoint_id}`);
}

function copyCheckpoints(dialect: Dialect, run: Run, { source, copy, seqs }: Copied): Statement[] {
  const numbers = JSON.stringify(seqs);
  return [
    run(
      `insert into checkpoints (thread, seq, ns, checkpoint_id, parent_id, body, metadata, snapshot)
       select cast(? as bigint), seq, ns, checkpoint_id, parent_id, body, metadata, snapshot from checkpoints
       where thread = ? and seq in (${dialect.eachNumber})`,
      [copy, source, numbers],
    ),
    run(
      `insert into checkpoint_writes (thread, ns, checkpoint_id, task_id, idx, channel, value, task_path)
       select cast(? as bigint), w.ns, w.checkpoint_id, w.task_id, w.idx, w.channel, w.value, w.task_path
       from checkpoint_writes w join checkpoints c on c.thread = w.thread and c.ns = w.ns and c.checkpoint_id = w.checkpoint_id
       where c.thread = ? and c.seq in (${dialect.eachNumber})`,
      [copy, source, numbers],
    ),
  ];
}

interface Copied {
  source: number;
  copy: number;
  seqs: readonly number[];
}

interface Subgraphs {
  source: number;
  copy: number;
  /** The checkpoint with which the copy begins. */
  row: SourceRow;
}

/**
 * Subgraphs that were under way at that checkpoint: what says that it is part of this one, whenever it was stored, and what
 * says nothing of that and came before the thread's next root checkpoint. And what those had that keep their state.
 */
function* copySubgraphs(dialect: Dialect, run: Run, { source, copy, row }: Subgraphs): Tx<void> {
  const { seq, checkpoint_id } = row;
  const [found] = yield* all([
    run(
      `select c.seq, c.checkpoint_id, c.metadata from checkpoints c where c.thread = ? and c.ns > ''
         and (c.metadata <> replace(c.metadata, ?, '') or (c.seq > ? and c.seq < coalesce(
           (select min(n.seq) from checkpoints n where n.thread = ? and n.ns = '' and n.seq > ?), c.seq + 1)))`,
      [source, partOfText(checkpoint_id), seq, source, seq],
    ),
  ]);
  const stored = (found?.rows ?? []) as unknown as { seq: number; checkpoint_id: string; metadata: string }[];
  const underWay = stored.filter((one) => (partOf(one) ?? checkpoint_id) === checkpoint_id);
  const seqs = new Set(underWay.map((one) => one.seq));
  for (const { ns, row: kept } of yield* keptStates(run, source, { at: row, ownStep: false })) {
    const state = kept && (yield* findRow(run, source, ns, kept.checkpoint_id));
    if (state) for (const one of [state, ...(yield* leantOn(run, source, state))]) seqs.add(one.seq);
  }
  if (seqs.size > 0) yield* all(copyCheckpoints(dialect, run, { source, copy, seqs: [...seqs] }));
}
