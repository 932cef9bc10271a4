import type { Checkpoint } from "@langchain/langgraph-checkpoint";
import type { Channels } from "./checkpoint-body.ts";
import type { WriterLease } from "./lease.ts";
import type { PieceEncoder } from "./piece-encoder.ts";
import { MESSAGES, projectCheckpoint } from "./project-checkpoint.ts";
import { ProjectedRows } from "./projected-rows.ts";
import type { ThreadWriter } from "./thread-writer.ts";
import type { WriteOp } from "./write-op.ts";

type Numbers = readonly number[] | undefined | "as before";

interface RootPut {
  thread: ThreadWriter;
  checkpoint: Checkpoint;
  /** The pieces of the list of messages, if it is nothing else. */
  numbers: () => Numbers;
  lease: WriterLease | undefined;
}

/** Adds what makes the session's messages follow; after a head that this process doesn't know, all of them anew. */
export function projectRoot(op: WriteOp, put: RootPut): void {
  const { thread, numbers, checkpoint, lease } = put;
  const { session_id, head } = thread;
  if (!session_id) return;
  const parent_id = op.checkpoint?.parent_id ?? null;
  // Put once more, and the thread stands elsewhere.
  if (parent_id === checkpoint.id && head !== checkpoint.id) return;
  const follows = head !== undefined && head === parent_id;
  const then = follows ? thread.messages : undefined;
  const known = numbers();
  const now = known === "as before" ? then : known;
  const messages = checkpoint.channel_values[MESSAGES];
  const origin = { run_id: lease?.run_id ?? null, checkpoint_id: checkpoint.id, created_at: checkpoint.ts };
  const before = thread.shown?.deref();
  const change = follows ? projectCheckpoint(origin, { messages, before, now, then }) : undefined;
  if (lease) {
    lease.projected ??= new ProjectedRows(session_id, checkpoint.id);
    lease.projected.follow(messages, change);
  }
  const begins = lease?.projected?.first === checkpoint.id;
  op.projection = { session_id, rows: change && { after: parent_id, change: { ...change, begins } } };
  thread.head = checkpoint.id;
  thread.messages = now;
  thread.shown = Array.isArray(messages) ? new WeakRef(messages) : undefined;
}

export function messageNumbers(
  { [MESSAGES]: now }: Channels,
  parent: Channels | undefined,
  encoder: PieceEncoder,
): Numbers {
  const value = now?.[1];
  if (value === undefined || (Array.isArray(value) && value.length === 0)) return [];
  return now === parent?.[MESSAGES] ? "as before" : encoder.numbersOf(MESSAGES);
}
