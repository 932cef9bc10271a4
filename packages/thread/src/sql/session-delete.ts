import { type DeletedThread, leaveTombstone, removePortion } from "../checkpoint/delete-thread.ts";
import type { SqlContext } from "./context.ts";
import { removeDone } from "./delivery-store.ts";
import { leaveMessages } from "./inherit-messages.ts";
import { all, changes, first, statement, type Tx } from "./statement.ts";

/**
 * The thread goes first: its tombstone is the lock that a late writer meets. Messages and runs go with the row; of what nobody
 * sees without it, a portion. Undefined if there is no such session.
 */
export function* deleteSession(
  ctx: SqlContext,
  session_id: string,
  scope: string | undefined,
): Tx<DeletedThread | undefined> {
  const { q } = ctx.db;
  const found = q
    .selectFrom("sessions")
    .innerJoin("threads", "threads.thread_id", "sessions.thread_id")
    .select(["threads.pk", "threads.thread_id"])
    .where("sessions.id", "=", session_id);
  const thread = yield* first(scope === undefined ? found : found.where("sessions.scope", "=", scope));
  if (!thread) return undefined;
  yield* leaveMessages(ctx, session_id);
  yield* leaveTombstone(ctx, thread.thread_id);
  yield* removeDone(ctx, session_id);
  const scratch = q.deleteFrom("artifacts").where("session_id", "=", session_id).where("artifact_type", "=", "scratch");
  yield* all([
    statement(q.updateTable("threads").set({ deleted_session: session_id }).where("pk", "=", thread.pk)),
    statement(q.deleteFrom("tool_calls").where("thread", "=", thread.pk)),
    statement(q.deleteFrom("memory_changes").where("thread", "=", thread.pk)),
    statement(scratch),
  ]);
  const isGone = (yield* changes(q.deleteFrom("sessions").where("id", "=", session_id))) === 1;
  return isGone ? { pk: thread.pk, hasMore: yield* removePortion(ctx, thread.pk) } : undefined;
}
