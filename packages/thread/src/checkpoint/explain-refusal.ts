import { AppError } from "@cognition/contract";
import type { Database } from "../sql/database.ts";
import type { Writer } from "./lease.ts";
import type { Knowledge } from "./piece-knowledge.ts";

/** Which of its conditions the thread's row did not meet; "pruned" is no refusal, only void knowledge, and so is "lost" without a lease. */
export async function explainRefusal(
  db: Database,
  thread_id: string,
  { lease }: Writer,
  { generation, reached }: Pick<Knowledge, "generation" | "reached">,
): Promise<AppError | "pruned" | "lost"> {
  const [row] = await db.read(
    db.q
      .selectFrom("threads")
      .select(["epoch", "generation", "head", "deleted_at", "checkpoint_seq", "event_seq"])
      .where("thread_id", "=", thread_id),
  );
  if (!row) return new AppError("thread_not_found", `There is no thread ${thread_id}`);
  if (row.deleted_at) {
    return new AppError(
      "thread_deleted",
      `Thread ${thread_id} was deleted and takes no more writes; use another thread_id`,
    );
  }
  if (lease && lease.epoch !== row.epoch) {
    return new AppError(
      "stale_epoch",
      `Thread ${thread_id} is at epoch ${row.epoch}; a write of epoch ${lease.epoch} was refused, nothing of it is stored`,
      { details: { epoch: row.epoch } },
    );
  }
  if (generation !== undefined && row.generation !== generation) return "pruned";
  if (reached && (row.checkpoint_seq < reached.checkpoint_seq || row.event_seq < reached.event_seq)) return "lost";
  return new AppError(
    "concurrent_writer",
    `Another writer has moved thread ${thread_id} on to checkpoint ${row.head}; this write was refused, nothing of it is ` +
      "stored. Let runs and updates of a thread follow one another, or name a checkpoint_id to branch from it.",
    { details: { head: row.head } },
  );
}
