import { readMessagesAt } from "../checkpoint/timeline-read.ts";
import type { SqlContext } from "./context.ts";
import { placeholders } from "./dialect.ts";
import { rebuildMessages } from "./message-projection.ts";
import { all, changes, first, rows, type Tx } from "./statement.ts";

const COLUMNS = `role, content, tool_calls, tool_call_id, token_count, model_used, parent_id, metadata, run_id, checkpoint_id,
  left_state, created_at`;

/** Makes the message rows of a fork that has none yet, in a transaction of its own. */
export async function makeInherited(ctx: SqlContext, session_id: string): Promise<void> {
  await ctx.db.transaction(() => inheritMessages(ctx, session_id));
}

/**
 * The rows of a fork, if it has none yet: from its checkpoint, with the times and the usage that the rows of the session
 * it came from know. Whoever is about to read or write messages calls this first.
 */
export function* inheritMessages(ctx: SqlContext, session_id: string): Tx<void> {
  const { q, dialect } = ctx.db;
  const claim = q.updateTable("sessions").set({ inherits: 0 }).where("id", "=", session_id).where("inherits", "=", 1);
  const row = yield* first(claim.returning(["parent_session_id", "parent_checkpoint_id", "thread_id"]));
  if (!row) return;
  const { parent_session_id: parent, parent_checkpoint_id: at } = row;
  if (parent !== null && at !== null) {
    yield* inheritMessages(ctx, parent);
    const { messages } = yield* readMessagesAt(ctx.db, session_id, at);
    const sql = `insert into messages (session_id, id, scope, position, ${COLUMNS})
      select cast(? as text), m.id, m.scope, null, ${COLUMNS.replaceAll(/(\w+)/g, "m.$1")} from messages m
      where m.session_id = ? and m.id in (${dialect.eachText}) on conflict (session_id, id) do nothing`;
    const params = [session_id, parent, JSON.stringify(messages.map(({ id }) => id))];
    yield* all([{ sql: placeholders(dialect, sql), params }]);
  }
  yield* rebuildMessages(ctx, session_id);
}

/** Before a session goes, its forks take what only its rows know. */
export function* leaveMessages(ctx: SqlContext, session_id: string): Tx<void> {
  const { q } = ctx.db;
  const forks = yield* rows(
    q.selectFrom("sessions").select("id").where("parent_session_id", "=", session_id).where("inherits", "=", 1),
  );
  for (const { id } of forks) yield* inheritMessages(ctx, id);
}

export function* countInherited({ db }: SqlContext, session_id: string, message_count: number): Tx<void> {
  yield* changes(db.q.updateTable("sessions").set({ message_count }).where("id", "=", session_id));
}
