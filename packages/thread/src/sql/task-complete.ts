import { type CompletedTask, isAppError, type Scope } from "@cognition/contract";
import { taskCompleted } from "../task/task-completed.ts";
import type { TaskChange, TaskChanged, TaskRef } from "../task/task-store.ts";
import type { SqlContext } from "./context.ts";
import { scopeText, scopeTextOf } from "./scope.ts";
import { changes, type Tx } from "./statement.ts";
import { writeConversation } from "./write-conversation.ts";

/** What is still to be stored comes in as `change`, so that it is one commit with the end. */
export async function completeTask(
  ctx: SqlContext,
  task: TaskRef,
  wanted: readonly TaskChange[],
  change: () => Tx<TaskChanged>,
): Promise<TaskChanged & { done: CompletedTask }> {
  const { task_id, conversation_id } = task;
  const done = { task_id, conversation_id, completed_at: ctx.now() };
  try {
    const changed = await writeConversation(ctx.db, conversation_id, () => complete(ctx, task, done, change));
    return { ...changed, done };
  } catch (error) {
    // Completed before, or gone with its conversation: there is nothing left that this call could lose.
    const over = isAppError(error, "task_completed", "conversation_not_found");
    if (!over) throw error;
    if (wanted.length > 0) throw taskCompleted(task_id);
    return { messages: [], done: (await findCompletedTask(ctx, task)) ?? done };
  }
}

function* complete(
  ctx: SqlContext,
  task: TaskRef,
  done: CompletedTask,
  change: () => Tx<TaskChanged>,
): Tx<TaskChanged> {
  const { q } = ctx.db;
  const scope = scopeText(task.scope);
  const changed = yield* change();
  yield* changes(q.deleteFrom("task_workspaces").where("scope", "=", scope).where("task_id", "=", task.task_id));
  const row = { ...done, scope, user_id: task.user_id };
  const { task_id: _, ...fresh } = done;
  // An id that was completed before, and begun again by a caller who chooses his own.
  const known = q.insertInto("completed_tasks").values(row);
  yield* changes(
    known.onConflict((conflict) =>
      conflict.columns(["scope", "task_id"]).doUpdateSet({ ...fresh, user_id: task.user_id }),
    ),
  );
  return changed;
}

export async function findCompletedTask(
  { db }: SqlContext,
  { task_id, user_id, scope }: { task_id: string; user_id?: string; scope?: Scope },
): Promise<CompletedTask | null> {
  const own = scopeText(scope);
  const open = db.q.selectFrom("task_workspaces").select("task_id").where("scope", "=", own);
  let query = db.q
    .selectFrom("completed_tasks")
    .select(["task_id", "conversation_id", "completed_at"])
    .where("scope", "=", own)
    .where("task_id", "=", task_id)
    .where(({ not, exists }) => not(exists(open.where("task_id", "=", task_id))));
  if (user_id !== undefined) query = query.where("user_id", "=", user_id);
  const [row] = await db.read(query, scopeTextOf(scope));
  return row ?? null;
}
