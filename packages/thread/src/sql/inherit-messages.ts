import type { PieceDecoder } from "../checkpoint/piece-decoder.ts";
import { readMessagesAt } from "../checkpoint/timeline-read.ts";
import type { SqlContext } from "./context.ts";
import { placeholders, prepared } from "./dialect.ts";
import { rebuildMessages } from "./message-projection.ts";
import { readAhead } from "./read-ahead.ts";
import { all, changes, first, rows, type Tx } from "./statement.ts";

const COLUMNS = `role, content, tool_calls, tool_call_id, token_count, model_used, parent_id, metadata, run_id, checkpoint_id,
  left_state, created_at`;

/**
 * Makes the message rows of a fork that has none yet, and before them those of the forks that it came from: each in a
 * transaction of its own, so that a long line of them keeps nobody waiting.
 */
export async function makeInherited(ctx: SqlContext, session_id: string): Promise<void> {
  for (const id of await unreadLine(ctx, session_id)) {
    const decoder = await readAhead(ctx, id);
    await ctx.db.transaction(() => inheritMessages(ctx, id, decoder));
  }
}

/** The fork and those before it that have no rows yet, the oldest first. */
async function unreadLine({ db }: SqlContext, session_id: string): Promise<string[]> {
  const sql = `with recursive chain (id, parent, inherits, depth) as (
      select id, parent_session_id, inherits, 0 from sessions where id = ?
      union all
      select s.id, s.parent_session_id, s.inherits, chain.depth + 1 from chain
      join sessions s on s.id = chain.parent where chain.inherits = 1)
    select id from chain where inherits = 1 order by depth desc`;
  const [found] = await db.readAll([prepared(db.dialect, sql, [session_id])]);
  return (found?.rows ?? []).map(({ id }) => String(id));
}

/** Those of every fork of the session that has none yet: once it is gone, they could not know what only its rows do. */
export async function makeForksInherited(ctx: SqlContext, session_id: string, scope?: string): Promise<void> {
  const forks = unreadForks(ctx, session_id);
  const own = scope === undefined ? forks : forks.where("scope", "=", scope);
  for (const { id } of await ctx.db.read(own)) await makeInherited(ctx, id);
}

function unreadForks({ db }: SqlContext, session_id: string) {
  const forks = db.q.selectFrom("sessions").select("id").where("parent_session_id", "=", session_id);
  return forks.where("inherits", "=", 1);
}

/**
 * The rows of a fork, if it has none yet: from its checkpoint, with the times and the usage that the rows of the session
 * it came from know. Whoever is about to read or write messages calls this first.
 */
export function* inheritMessages(ctx: SqlContext, session_id: string, ahead?: PieceDecoder): Tx<void> {
  const { q } = ctx.db;
  const claim = q.updateTable("sessions").set({ inherits: 0 }).where("id", "=", session_id).where("inherits", "=", 1);
  const row = yield* first(claim.returning(["parent_session_id", "parent_checkpoint_id", "thread_id"]));
  if (!row) return;
  const { parent_session_id: parent, parent_checkpoint_id: at } = row;
  if (parent !== null && at !== null) {
    yield* inheritMessages(ctx, parent);
    const { messages } = yield* readMessagesAt(ctx.db, session_id, at, ahead);
    yield* copyMessageRows(ctx, { from: parent, to: session_id, ids: messages.map(({ id }) => id) });
  }
  yield* rebuildMessages(ctx, session_id, ahead);
}

interface CopiedRows {
  from: string;
  to: string;
  ids: readonly string[];
  /** Besides those named, the ones that these checkpoints were the first to hold. */
  checkpoints?: readonly string[];
}

/** Rows of another session, with what only they know; where they stand is for a rebuild to say. Those that are there stay. */
export function* copyMessageRows(
  { db: { dialect } }: SqlContext,
  { from, to, ids, checkpoints = [] }: CopiedRows,
): Tx<void> {
  const sql = `insert into messages (session_id, id, scope, position, ${COLUMNS})
    select cast(? as text), m.id, m.scope, null, ${COLUMNS.replaceAll(/(\w+)/g, "m.$1")} from messages m
    where m.session_id = ? and (m.id in (${dialect.eachText}) or m.checkpoint_id in (${dialect.eachText}))
    on conflict (session_id, id) do nothing`;
  const params = [to, from, JSON.stringify(ids), JSON.stringify(checkpoints)];
  yield* all([{ sql: placeholders(dialect, sql), params }]);
}

/** The same, of those that have been made since, in the transaction in which the session goes. */
export function* leaveMessages(ctx: SqlContext, session_id: string): Tx<void> {
  for (const { id } of yield* rows(unreadForks(ctx, session_id))) yield* inheritMessages(ctx, id);
}

export function* countInherited({ db }: SqlContext, session_id: string, message_count: number): Tx<void> {
  yield* changes(db.q.updateTable("sessions").set({ message_count }).where("id", "=", session_id));
}
