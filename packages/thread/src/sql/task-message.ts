import type { Message } from "@cognition/contract";
import type { NewMessage } from "../message-store.ts";
import type { SqlContext } from "./context.ts";
import { placeholders } from "./dialect.ts";
import { parseNewMessage } from "./message-input.ts";
import { toMessageRow } from "./message-row.ts";
import { insertMessage } from "./message-store.ts";
import type { SqlValue, Tx } from "./statement.ts";

const COLUMNS = [
  ...["session_id", "id", "scope", "role", "content", "tool_calls", "tool_call_id", "token_count", "model_used"],
  ...["parent_id", "metadata", "run_id", "checkpoint_id", "left_state", "created_at"],
] as const;

/** With the thread's row held, nobody else is between the highest position and the next. */
const INSERT = `insert into messages (position, ${COLUMNS.join(", ")})
  values ((select coalesce(max(position), 0) + 1 from messages where session_id = ?), ${COLUMNS.map(() => "?").join(", ")})`;

const COUNT = "update sessions set message_count = message_count + 1, updated_at = ? where id = ?";

/**
 * `insertMessage` for the case that a task appends by the thousand: a message that is new for certain. Written out,
 * because building the queries took longer than running them, and sent in one round trip.
 */
export function* appendMessage(ctx: SqlContext, scope: string, input: NewMessage): Tx<Message> {
  if (input.id !== undefined || input.parent_id) return yield* insertMessage(ctx, input);
  const { db, now, newId } = ctx;
  const message = parseNewMessage(input, { id: newId(), created_at: now() });
  const { session_id, created_at } = message;
  const row = toMessageRow(message, scope, null) as Record<string, SqlValue>;
  const values = COLUMNS.map((column) => row[column] ?? null);
  yield [
    { sql: placeholders(db.dialect, INSERT), params: [session_id, ...values], prepare: true },
    { sql: placeholders(db.dialect, COUNT), params: [created_at, session_id], prepare: true },
  ];
  return message;
}
