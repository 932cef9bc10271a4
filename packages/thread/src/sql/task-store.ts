import { isAppError } from "@cognition/contract";
import { sql } from "kysely";
import { taskCompleted } from "../task/task-completed.ts";
import type { TaskChange, TaskChanged, TaskRef, TaskStore } from "../task/task-store.ts";
import { newWorkspace, type WorkspaceData } from "../task/workspace-data.ts";
import type { SqlContext } from "./context.ts";
import type { Database } from "./database.ts";
import { placeholders } from "./dialect.ts";
import { jsonText, storedJson } from "./json-text.ts";
import { requireKnown } from "./known-names.ts";
import { atMost } from "./limit.ts";
import { insertMessage } from "./message-store.ts";
import { pageBounds } from "./page-bounds.ts";
import { changeProfile } from "./profile-store.ts";
import { scopeText, scopeTextOf } from "./scope.ts";
import { changes, type Statement, type Tx } from "./statement.ts";
import { completeTask, findCompletedTask } from "./task-complete.ts";
import { loadTask, taskOfConversation } from "./task-load.ts";
import { appendMessages, isAppended } from "./task-message.ts";
import { startTask } from "./task-start.ts";
import { writeConversation } from "./write-conversation.ts";

export function createTaskStore(ctx: SqlContext): TaskStore {
  const { db } = ctx;
  return {
    startTask: (task) => startTask(ctx, task),
    loadTask: (task) => loadTask(db, task),
    changeTask: async (task, wanted) => {
      if (wanted.length > 0 && wanted.every(isAppended)) return appendMessages(ctx, task, wanted);
      try {
        return await writeConversation(db, task.conversation_id, () => changeTask(ctx, task, wanted));
      } catch (error) {
        throw isAppError(error, "conversation_not_found") ? taskCompleted(task.task_id) : error;
      }
    },
    completeTask: (task, wanted) => completeTask(ctx, task, wanted, () => changeTask(ctx, task, wanted)),
    findCompletedTask: (task) => findCompletedTask(ctx, task),
    findTask: (conversation_id, scope) => taskOfConversation(db, conversation_id, scope),
    listTasks: async (filter = {}) => {
      requireKnown("Tasks", filter, ["user_id", "scope", "limit", "offset"]);
      const { user_id, scope } = filter;
      const { limit, offset } = pageBounds(filter);
      let query = db.q.selectFrom("task_workspaces as t").innerJoin("sessions as s", "s.id", "t.conversation_id");
      if (user_id !== undefined) query = query.where("t.user_id", "=", user_id);
      if (scope !== undefined) query = query.where("t.scope", "=", scopeText(scope));
      const columns = ["t.scope", "t.task_id", "t.user_id", "t.conversation_id", "t.query", "t.created_at"] as const;
      // Messages move the conversation's time alone: writing the workspace's too would cost a second row.
      const used = sql<string>`case when s.updated_at > t.updated_at then s.updated_at else t.updated_at end`;
      const newest = query.orderBy("t.created_at", "desc").orderBy("t.task_id", "desc");
      const listed = newest.select(columns).select(used.as("updated_at")).limit(atMost(limit)).offset(offset);
      const found = await db.read(listed, scopeTextOf(scope));
      return found.map((row) => ({ ...row, scope: storedJson(row.scope, `The scope of task ${row.task_id}`) }));
    },
  };
}

function* changeTask(ctx: SqlContext, task: TaskRef, wanted: readonly TaskChange[]): Tx<TaskChanged> {
  const { db, now } = ctx;
  const scope = scopeText(task.scope);
  const ofWorkspace = wanted.some((change) => "workspace" in change);
  const [found] = yield [findTask(db, scope, task, ofWorkspace)];
  const open = found?.rows[0];
  if (!open) throw taskCompleted(task.task_id);
  // A message does not ask for the workspace, which may be long.
  const before = ofWorkspace ? toWorkspace(task.task_id, open["workspace_data"] as string) : undefined;
  let workspace = before;
  const changed: TaskChanged = { messages: [] };
  for (const change of wanted) {
    if ("message" in change) {
      changed.messages.push(yield* insertMessage(ctx, { ...change.message, session_id: task.conversation_id }));
    } else if ("workspace" in change) workspace = change.workspace(workspace as WorkspaceData);
    else changed.profile = yield* changeProfile(ctx, scope, task.user_id, change.profile);
  }
  if (workspace !== before) {
    const row = { workspace_data: jsonText(workspace, "workspace"), updated_at: now() };
    const update = db.q.updateTable("task_workspaces").set(row);
    yield* changes(update.where("scope", "=", scope).where("task_id", "=", task.task_id));
  }
  return workspace ? { ...changed, workspace } : changed;
}

function toWorkspace(task_id: string, data: string): WorkspaceData {
  return { ...newWorkspace(""), ...storedJson(data, `The workspace of task ${task_id}`) };
}

const FOUND = "from task_workspaces where scope = ? and task_id = ? and user_id = ? and conversation_id = ?";

/** Not locked: whoever changes or completes a task holds its conversation's thread. */
function findTask({ dialect }: Database, scope: string, task: TaskRef, withWorkspace: boolean): Statement {
  const { task_id, user_id, conversation_id } = task;
  return {
    sql: placeholders(dialect, `select ${withWorkspace ? "workspace_data" : "task_id"} ${FOUND}`),
    params: [scope, task_id, user_id, conversation_id],
    prepare: true,
  };
}
