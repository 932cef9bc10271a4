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
import { all, type SqlValue, type Statement, type Tx } from "./statement.ts";
import { holdThread } from "./thread-row.ts";

const COLUMNS = [
  ...["session_id", "id", "scope", "role", "content", "tool_calls", "tool_call_id", "token_count", "model_used"],
  ...["parent_id", "metadata", "run_id", "checkpoint_id", "left_state", "created_at"],
] as const;

/** One row while the task is open and its conversation is there. */
const OPEN = `select t.pk from task_workspaces w
  inner join sessions s on s.id = w.conversation_id
  inner join threads t on t.thread_id = s.thread_id
  where w.scope = ? and w.task_id = ? and w.user_id = ? and w.conversation_id = ? and t.deleted_at is null`;

/** With the thread held, nobody else is between the highest position and the next. */
const INSERT = `insert into messages (position, ${COLUMNS.join(", ")})
  values ((select coalesce(max(position), 0) + 1 from messages where session_id = ?), ${COLUMNS.map(() => "?").join(", ")})`;

const COUNT = "update sessions set message_count = message_count + 1, updated_at = ? where id = ?";

type NewTaskMessage = Extract<TaskChange, { message: unknown }>;

/** A message that is new for certain. */
export function isAppended(change: TaskChange): change is NewTaskMessage {
  return "message" in change && change.message.id === undefined && !change.message.parent_id;
}

/**
 * For what a task does by the thousand. Written out, because building the queries took longer than running them, and in
 * two round trips.
 */
export function appendMessages(
  ctx: SqlContext,
  task: TaskRef,
  messages: readonly NewTaskMessage[],
): Promise<TaskChanged> {
  const { db } = ctx;
  const scope = scopeText(task.scope);
  const { conversation_id: session_id } = task;
  return db.transaction(function* (): Tx<TaskChanged> {
    yield holdOpen(db, task, scope);
    const added = messages.map(({ message }) => toMessage(ctx, { ...message, session_id }));
    yield* all(
      added.flatMap((message) => [
        insert(db.dialect, scope, message),
        prepared(db.dialect, COUNT, [message.created_at, session_id]),
      ]),
    );
    return { messages: added };
  });
}

/** The thread's lock comes first, so that what is asked after it stays true; a write transaction of SQLite's has every lock. */
function holdOpen(db: Database, { task_id, user_id, conversation_id }: TaskRef, scope: string): Statement[] {
  const requireRow = () => taskCompleted(task_id);
  const hold = db.dialect.holdRow === "" ? [] : [holdThread(db, { session_id: conversation_id })];
  const open = prepared(db.dialect, OPEN, [scope, task_id, user_id, conversation_id]);
  return [...hold, open].map((one) => ({ ...one, requireRow }));
}

function toMessage({ newId, now }: SqlContext, input: NewMessage): Message {
  return parseNewMessage(input, { id: newId(), created_at: now() });
}

function insert(dialect: Dialect, scope: string, message: Message): Statement {
  const row = toMessageRow(message, scope, null) as Record<string, SqlValue>;
  return prepared(dialect, INSERT, [message.session_id, ...COLUMNS.map((column) => row[column] ?? null)]);
}
