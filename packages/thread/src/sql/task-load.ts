import { AppError, type Scope } from "@cognition/contract";
import type { Selectable } from "kysely";
import type { OpenTask, StoredTask } from "../task/task-store.ts";
import { newWorkspace } from "../task/workspace-data.ts";
import { requireSize, selectSize } from "./conversation-size.ts";
import type { Database } from "./database.ts";
import { fixedQuery } from "./fixed-query.ts";
import { storedJson } from "./json-text.ts";
import { ONE } from "./limit.ts";
import { type MessageRow, toMessage } from "./message-row.ts";
import { profileNotFound, toStoredProfile } from "./profile-store.ts";
import { scopeText, scopeTextOf } from "./scope.ts";
import { statement } from "./statement.ts";
import type { Tables } from "./tables.ts";

interface Which {
  task_id: string;
  user_id?: string;
  scope?: Scope;
  max_bytes?: number;
}

type TaskRow = Selectable<Tables["task_workspaces"]> & { last_updated: string };

/** One snapshot, so that the messages are those of the moment in which the task was open. */
export async function loadTask(db: Database, which: Which): Promise<StoredTask> {
  const { q, readAll } = db;
  const scope = scopeText(which.scope);
  if (which.max_bytes !== undefined) await requireReadable(db, which, which.max_bytes);
  let task = q
    .selectFrom("task_workspaces as t")
    .innerJoin("sessions as s", "s.id", "t.conversation_id")
    .where("t.scope", "=", scope)
    .where("t.task_id", "=", which.task_id);
  if (which.user_id !== undefined) task = task.where("t.user_id", "=", which.user_id);
  const statements = [
    statement(
      q
        .selectFrom("user_profiles")
        .selectAll()
        .where("scope", "=", scope)
        .where("user_id", "=", which.user_id ?? task.select("t.user_id")),
    ),
    statement(task.selectAll("t").select("s.updated_at as last_updated")),
    statement(
      q
        .selectFrom("messages")
        .selectAll()
        .where("session_id", "=", task.select("t.conversation_id"))
        .where("position", "is not", null)
        .orderBy("position"),
    ),
  ];
  const [profiles, tasks, messages] = await readAll(statements, scopeTextOf(which.scope));
  const profile = profiles?.rows[0] as Parameters<typeof toStoredProfile>[0] | undefined;
  if (!profile && which.user_id !== undefined) throw profileNotFound(which.user_id);
  const row = tasks?.rows[0] as unknown as TaskRow | undefined;
  if (!row || !profile) throw taskNotFound(which.task_id);
  const { task_id, user_id, conversation_id, query, last_updated } = row;
  return {
    ...{ task_id, user_id, conversation_id, query, last_updated },
    scope: storedJson(row.scope, `The scope of task ${task_id}`),
    profile: toStoredProfile(profile),
    workspace: { ...newWorkspace(""), ...storedJson(row.workspace_data, `The workspace of task ${task_id}`) },
    messages: ((messages?.rows ?? []) as unknown as MessageRow[]).map(toMessage),
  };
}

/** That there is no such task is for the read itself to say. */
async function requireReadable({ q, read, readAll, dialect }: Database, which: Which, max_bytes: number) {
  const own = scopeTextOf(which.scope);
  const query = q.selectFrom("task_workspaces").select("conversation_id").where("task_id", "=", which.task_id);
  const ofScope = query.where("scope", "=", scopeText(which.scope));
  const [task] = await read(which.user_id === undefined ? ofScope : ofScope.where("user_id", "=", which.user_id), own);
  if (!task) return;
  const [measured] = await readAll([selectSize(dialect, task.conversation_id)], own);
  requireSize(task.conversation_id, measured, max_bytes);
}

const NEWEST = ["task_id", "user_id", "query", "scope", "workspace_data"] as const;
const selectNewest = fixedQuery<{ conversation_id: string; own: string }>(({ q }, { conversation_id, own }) =>
  q
    .selectFrom("task_workspaces")
    .select(NEWEST)
    .where("conversation_id", "=", conversation_id)
    .where("scope", "=", own)
    .orderBy("created_at", "desc")
    .orderBy("task_id", "desc")
    .limit(ONE),
);

export async function taskOfConversation(
  db: Database,
  conversation_id: string,
  scope?: Scope,
): Promise<OpenTask | null> {
  const [found] = await db.readAll([selectNewest(db, { conversation_id, own: scopeText(scope) })]);
  const row = found?.rows[0] as unknown as Pick<TaskRow, (typeof NEWEST)[number]> | undefined;
  if (!row) return null;
  const { workspace_data, ...task } = row;
  const workspace = { ...newWorkspace(""), ...storedJson(workspace_data, `The workspace of task ${task.task_id}`) };
  return { ...task, conversation_id, scope: storedJson(task.scope, `The scope of task ${task.task_id}`), workspace };
}

function taskNotFound(task_id: string): AppError {
  return new AppError("task_not_found", `There is no task ${task_id} of this user; a task that is complete is gone`);
}
