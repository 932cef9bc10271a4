import { AppError } from "@cognition/contract";
import { emptyCheckpoint, uuid6 } from "@langchain/langgraph-checkpoint";
import type { Database } from "../sql/database.ts";
import { placeholders } from "../sql/dialect.ts";
import { all, type SqlValue, type Statement, type Tx } from "../sql/statement.ts";
import { bodyJson } from "./checkpoint-body.ts";
import { keptStates } from "./kept-states.ts";
import { parseJson, toBytes } from "./serializer.ts";
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

type Run = (sql: string, params: SqlValue[]) => Statement;

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
  const run: Run = (sql, params) => ({ sql: placeholders(dialect, sql), params });
  const source = checkpoint_id === null ? undefined : yield* findCheckpoint(db, thread, checkpoint_id);
  const from = source
    ? (parseJson(source.metadata, `The metadata of checkpoint ${checkpoint_id}`) as Record<string, unknown>)
    : { step: -2, parents: {} };
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
  yield* forkSubgraphs(run, thread, { seq: source?.seq ?? 0, checkpoint_id: checkpoint_id ?? "" });
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

/** Subgraphs that keep their state from one call to the next have what they had then; those that had none begin anew. */
function* forkSubgraphs(run: Run, thread: number, at: { seq: number; checkpoint_id: string }): Tx<void> {
  for (const { ns, row } of yield* keptStates(run, thread, { at, ownStep: true })) {
    const from = row
      ? (parseJson(row.metadata, `The metadata of checkpoint ${row.checkpoint_id}`) as object)
      : { source: "fork", step: -2 };
    // Of none that was written before: it came with the thread's new head.
    const metadata = JSON.stringify({ ...from, parents: {} });
    yield* all([
      run("update threads set checkpoint_seq = checkpoint_seq + 1 where pk = ?", [thread]),
      run(
        `insert into checkpoints (thread, seq, ns, checkpoint_id, parent_id, body, metadata)
         select t.pk, t.checkpoint_seq, cast(? as text), cast(? as text), c.checkpoint_id, coalesce(c.body, ?), cast(? as text)
         from threads t left join checkpoints c on c.thread = t.pk and c.seq = ? where t.pk = ?`,
        [ns, uuid6(0), emptyBody(), metadata, row?.seq ?? null, thread],
      ),
    ]);
  }
}
