import { AppError } from "@cognition/contract";
import { emptyCheckpoint, uuid6 } from "@langchain/langgraph-checkpoint";
import type { Database } from "../sql/database.ts";
import { placeholders } from "../sql/dialect.ts";
import { all, type SqlValue, type Statement, type Tx } from "../sql/statement.ts";
import { bodyJson } from "./checkpoint-body.ts";
import { toBytes } from "./serializer.ts";
import { noteStands, type Stands } from "./stands.ts";

export interface ForkPoint {
  thread: number;
  /** Null: before the first checkpoint, as if nothing had been said. */
  checkpoint_id: string | null;
  /** Where the files stand. */
  snapshot: string | null;
  /** `update` for one that goes on from the checkpoint rather than back to it: what was written after that is in it. */
  source?: "fork" | "update";
  stands?: Stands;
}

interface SourceRow {
  seq: number;
  body: Uint8Array;
  metadata: string;
}

/**
 * Writes the thread's next head as a copy of one of its checkpoints, without what was pending there: with that, LangGraph
 * would take the results of the tools that are being undone instead of running them again. Its new id makes new tasks,
 * and so new entries in the journal. The caller holds the thread's row.
 */
export function* forkCheckpoint(db: Database, point: ForkPoint): Tx<string> {
  const { dialect } = db;
  const { thread, checkpoint_id, snapshot, source: kind = "fork", stands = {} } = point;
  const run = (sql: string, params: SqlValue[]): Statement => ({ sql: placeholders(dialect, sql), params });
  const source = checkpoint_id === null ? undefined : yield* findCheckpoint(db, thread, checkpoint_id);
  const from = source ? (JSON.parse(source.metadata) as Record<string, unknown>) : { step: -2, parents: {} };
  // No run made it: one that finds its own id at the head takes its input for used.
  const { run_id: _, ...rest } = from;
  const step = Number(from["step"] ?? 0) + (source ? 1 : 0);
  const id = uuid6(step);
  const metadata = JSON.stringify(noteStands({ ...rest, source: kind, step }, stands));
  const body = source?.body ?? emptyBody();
  yield* all([
    run("update threads set checkpoint_seq = checkpoint_seq + 1, head = ? where pk = ?", [id, thread]),
    run(
      `insert into checkpoints (thread, seq, ns, checkpoint_id, parent_id, body, metadata, snapshot)
       select t.pk, t.checkpoint_seq, '', cast(? as text), cast(? as text), cast(? as ${dialect.bytes}), cast(? as text), cast(? as text)
       from threads t where t.pk = ?`,
      [id, checkpoint_id, body, metadata, snapshot, thread],
    ),
  ]);
  if (source) yield* forkSubgraphs(run, thread, source.seq);
  return id;
}

export function* findCheckpoint({ dialect }: Database, thread: number, checkpoint_id: string): Tx<SourceRow> {
  const sql = "select seq, body, metadata from checkpoints where thread = ? and ns = '' and checkpoint_id = ?";
  const [found] = yield* all([{ sql: placeholders(dialect, sql), params: [thread, checkpoint_id] }]);
  const row = (found?.rows ?? [])[0] as unknown as SourceRow | undefined;
  if (row) return row;
  throw new AppError(
    "checkpoint_not_found",
    `The session has no checkpoint ${checkpoint_id}: it never had, or it was pruned. Nothing was changed.`,
  );
}

function emptyBody(): Uint8Array {
  const { v, ts, versions_seen } = emptyCheckpoint();
  return toBytes(bodyJson({ v, ts, channels: {}, seen: versions_seen }));
}

/** Subgraphs that keep their state from one call to the next (their namespace names no task) have what they had then. */
function* forkSubgraphs(run: (sql: string, params: SqlValue[]) => Statement, thread: number, seq: number): Tx<void> {
  const [found] = yield* all([
    run(
      `select c.ns, c.seq from checkpoints c where c.thread = ? and c.ns > '' and c.ns not like '%:%'
         and c.seq = (select max(n.seq) from checkpoints n where n.thread = c.thread and n.ns = c.ns and n.seq < coalesce(
           (select min(r.seq) from checkpoints r where r.thread = c.thread and r.ns = '' and r.seq > ?), c.seq + 1))`,
      [thread, seq],
    ),
  ]);
  for (const row of found?.rows ?? []) {
    yield* all([
      run("update threads set checkpoint_seq = checkpoint_seq + 1 where pk = ?", [thread]),
      run(
        `insert into checkpoints (thread, seq, ns, checkpoint_id, parent_id, body, metadata)
         select c.thread, t.checkpoint_seq, c.ns, cast(? as text), c.checkpoint_id, c.body, c.metadata
         from checkpoints c join threads t on t.pk = c.thread where c.thread = ? and c.seq = ?`,
        [uuid6(0), thread, row["seq"] as number],
      ),
    ]);
  }
}
