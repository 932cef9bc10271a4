import type { Message } from "@cognition/contract";
import type { NewMessage } from "../message-store.ts";
import { taskCompleted } from "../task/task-completed.ts";
import type { TaskChange, TaskChanged, TaskRef } from "../task/task-store.ts";
import type { SqlContext } from "./context.ts";
import type { Database } from "./database.ts";
import { type Dialect, prepared } from "./dialect.ts";
import { parseNewMessage } from "./message-input.ts";
import { toMessageRow } from "./message-row.ts";
import { scopeText } from "./scope.ts";
import type { SqlValue, Statement } from "./statement.ts";
import { holdThread } from "./thread-row.ts";

const COLUMNS = [
  ...["session_id", "id", "scope", "role", "content", "tool_calls", "tool_call_id", "token_count", "model_used"],
  ...["parent_id", "metadata", "run_id", "checkpoint_id", "left_state", "created_at"],
] as const;

/** Counts them, while the task is open and its conversation is there. */
const COUNT = `update sessions set message_count = message_count + ?, updated_at = ? where id = ?
  and exists (select 1 from task_workspaces w where w.scope = ? and w.task_id = ? and w.user_id = ?
    and w.conversation_id = sessions.id)
  and exists (select 1 from threads t where t.thread_id = sessions.thread_id and t.deleted_at is null)`;

/** With the thread held, nobody else is between the highest position and the next. */
const INSERT = `insert into messages (position, ${COLUMNS.join(", ")})
  values ((select coalesce(max(position), 0) + 1 from messages where session_id = ?), ${COLUMNS.map(() => "?").join(", ")})`;

type NewTaskMessage = Extract<TaskChange, { message: unknown }>;

/** A message that is new for certain. */
export function isAppended(change: TaskChange): change is NewTaskMessage {
  return "message" in change && change.message.id === undefined && !change.message.parent_id;
}

/** At least one. For what a task does by the thousand: written out, because building the queries took longer than running them. */
export async function appendMessages(
  ctx: SqlContext,
  task: TaskRef,
  messages: readonly NewTaskMessage[],
): Promise<TaskChanged> {
  const { db } = ctx;
  const scope = scopeText(task.scope);
  const { conversation_id: session_id } = task;
  const added = messages.map(({ message }) => toMessage(ctx, { ...message, session_id }));
  const inserts = added.map((message) => insert(db.dialect, scope, message));
  await db.atomic([...countOpen(db, task, scope, added), ...inserts], session_id);
  return { messages: added };
}

/** The thread's lock comes first, so that what is asked after it stays true; a write transaction of SQLite's has every lock. */
function countOpen(db: Database, task: TaskRef, scope: string, added: readonly Message[]): Statement[] {
  const { task_id, user_id, conversation_id: session_id } = task;
  const requireRow = () => taskCompleted(task_id);
  const { holdRow, returning } = db.dialect;
  const hold = holdRow === "" ? [] : [holdThread(db, { session_id })];
  const now = (added.at(-1) as Message).created_at;
  const count = prepared(db.dialect, COUNT + returning("id"), [added.length, now, session_id, scope, task_id, user_id]);
  return [...hold, count].map((one) => ({ ...one, requireRow }));
}

function toMessage({ newId, now }: SqlContext, input: NewMessage): Message {
  return parseNewMessage(input, { id: newId(), created_at: now() });
}

function insert(dialect: Dialect, scope: string, message: Message): Statement {
  const row = toMessageRow(message, scope, null) as Record<string, SqlValue>;
  return prepared(dialect, INSERT, [message.session_id, ...COLUMNS.map((column) => row[column] ?? null)]);
}
