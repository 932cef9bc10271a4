import { AppError, DEFAULT_PAGE_LIMIT, type Message } from "@cognition/contract";
import { type RawBuilder, type SqlBool, sql } from "kysely";
import type { MessageStore, NewMessage } from "../message-store.ts";
import type { SqlContext } from "./context.ts";
import type { Database } from "./database.ts";
import { fixedQuery } from "./fixed-query.ts";
import { inheritMessages, makeInherited } from "./inherit-messages.ts";
import { requireKnown } from "./known-names.ts";
import { atMost, ONE } from "./limit.ts";
import { parseNewMessage } from "./message-input.ts";
import { type MessageRow, toMessage, toMessageRow } from "./message-row.ts";
import { pageBounds, pageOrder } from "./page-bounds.ts";
import { scopeTextOf } from "./scope.ts";
import { sessionNotFound } from "./session-store.ts";
import { listSpokenMessages } from "./spoken-messages.ts";
import { all, changes, first, type Tx } from "./statement.ts";
import { writeThread } from "./write-thread.ts";

export function createMessageStore(ctx: SqlContext): Omit<MessageStore, "rebuildMessages"> {
  const { db } = ctx;
  return {
    createMessage: async (message) =>
      writeThread(db, { session_id: message.session_id }, function* () {
        yield* inheritMessages(ctx, message.session_id);
        return yield* insertMessage(ctx, message);
      }),
    getMessage: async (message_id, options = {}) => {
      requireKnown("A message", options, ["session_id", "scope"]);
      const { session_id, scope } = options;
      if (session_id !== undefined) await needRows(ctx, session_id);
      let query = db.q.selectFrom("messages").selectAll().where("id", "=", message_id);
      if (session_id !== undefined) query = query.where("session_id", "=", session_id);
      const own = scopeTextOf(scope);
      if (own !== undefined) query = query.where("scope", "=", own);
      // Forks share message ids; the one that was first is the original.
      const [row] = await db.read(query.orderBy("pk").limit(ONE), own);
      return row ? toMessage(row) : null;
    },
    getMessagesBySession: async (session_id, page = {}) => {
      requireKnown("Messages", page, ["limit", "offset", "order", "role", "scope", "past"]);
      const { role, scope, past } = page;
      const order = pageOrder(page.order, "desc");
      const { limit, offset } = pageBounds(page, DEFAULT_PAGE_LIMIT);
      const own = scopeTextOf(scope);
      const shape = { order, ofRole: role !== undefined, ofScope: own !== undefined, goesOn: past !== undefined };
      const { select, count } = pageQueries(shape);
      const values = { session_id, role: role ?? "user", own: own ?? "", past: past ?? "", limit, offset };
      const read = () => db.readAll([selectInherits(db, values), select(db, values), count(db, values)], own);
      let [session, found, counted] = await read();
      if (session?.rows[0]?.inherits === 1) {
        await makeInherited(ctx, session_id);
        [session, found, counted] = await read();
      }
      const rows = (found?.rows ?? []) as unknown as MessageRow[];
      if (past !== undefined && rows.length === 0) await requireListed(ctx, session_id, past);
      return { messages: rows.map(toMessage), total: Number(counted?.rows[0]?.total) };
    },
    listSpokenMessages: (filter, page) => listSpokenMessages(ctx, filter, page),
    listMessagesForSession: async (session_id) => {
      await needRows(ctx, session_id);
      const query = db.q.selectFrom("messages").selectAll().where("session_id", "=", session_id);
      return (await db.read(query.where("position", "is not", null).orderBy("position"))).map(toMessage);
    },
    deleteMessagesForSession: (session_id) => db.transaction(() => deleteMessages(ctx, session_id)),
  };
}

function isPast(session_id: string, message_id: string, order: "asc" | "desc"): RawBuilder<SqlBool> {
  const place = sql`(select position from messages where session_id = ${session_id} and id = ${message_id})`;
  return order === "asc" ? sql<SqlBool>`position > ${place}` : sql<SqlBool>`position < ${place}`;
}

/** Nothing comes after what is not in the list any more; an empty page would pass for its end. */
async function requireListed({ db }: SqlContext, session_id: string, message_id: string): Promise<void> {
  const query = db.q.selectFrom("messages").select("position").where("session_id", "=", session_id);
  const [row] = await db.read(query.where("id", "=", message_id).where("position", "is not", null));
  if (row) return;
  const message = `Message ${message_id} is not among those of session ${session_id} any more; read from the first page again`;
  throw new AppError("message_not_found", message);
}

const selectInherits = fixedQuery<{ session_id: string }>(({ q }, { session_id }) =>
  q.selectFrom("sessions").select("inherits").where("id", "=", session_id),
);

interface PageShape {
  order: "asc" | "desc";
  ofRole: boolean;
  ofScope: boolean;
  /** Whether it begins past a message. */
  goesOn: boolean;
}

interface PageValues {
  session_id: string;
  role: Message["role"];
  own: string;
  past: string;
  limit: number;
  offset: number;
}

const pages = new Map<string, ReturnType<typeof pageQueriesOf>>();

/** Every run ends with one of these: each of the few shapes is compiled once. */
function pageQueries(shape: PageShape) {
  const name = JSON.stringify([shape.order, shape.ofRole, shape.ofScope, shape.goesOn]);
  const known = pages.get(name) ?? pageQueriesOf(shape);
  pages.set(name, known);
  return known;
}

function pageQueriesOf({ order, ofRole, ofScope, goesOn }: PageShape) {
  const matching = ({ q }: Pick<Database, "q">, { session_id, role, own }: PageValues) => {
    let query = q.selectFrom("messages").where("session_id", "=", session_id).where("position", "is not", null);
    if (ofRole) query = query.where("role", "=", role);
    if (ofScope) query = query.where("scope", "=", own);
    return query;
  };
  return {
    select: fixedQuery<PageValues>((db, values) => {
      const all = matching(db, values);
      const rest = goesOn ? all.where(isPast(values.session_id, values.past, order)) : all;
      return rest.selectAll().orderBy("position", order).limit(atMost(values.limit)).offset(values.offset);
    }),
    count: fixedQuery<PageValues>((db, values) => matching(db, values).select((eb) => eb.fn.countAll().as("total"))),
  };
}

/** A fork has no rows until somebody asks for them. */
async function needRows(ctx: SqlContext, session_id: string): Promise<void> {
  const [found] = await ctx.db.readAll([selectInherits(ctx.db, { session_id })]);
  if (found?.rows[0]?.inherits === 1) await makeInherited(ctx, session_id);
}

const selectEnd = fixedQuery<{ session_id: string }>(({ q }, { session_id }) => {
  const ofSession = q.selectFrom("messages").where("session_id", "=", session_id);
  return q
    .selectFrom("sessions")
    .select(["scope", ofSession.select((eb) => eb.fn.max("position").as("last")).as("last")])
    .where("id", "=", session_id);
});
const selectSame = fixedQuery<{ session_id: string; id: string }>(({ q }, { session_id, id }) =>
  q.selectFrom("messages").where("session_id", "=", session_id).selectAll().where("id", "=", id),
);
const insertRow = fixedQuery<ReturnType<typeof toMessageRow>>(({ q }, row) =>
  q.insertInto("messages").values({
    id: row.id,
    session_id: row.session_id,
    role: row.role,
    content: row.content,
    tool_calls: row.tool_calls,
    tool_call_id: row.tool_call_id,
    token_count: row.token_count,
    model_used: row.model_used,
    parent_id: row.parent_id,
    metadata: row.metadata,
    run_id: row.run_id,
    checkpoint_id: row.checkpoint_id,
    created_at: row.created_at,
    scope: row.scope,
    position: row.position,
    left_state: row.left_state,
  }),
);
const countOneMore = fixedQuery<{ session_id: string; now: string }>(({ q }, { session_id, now }) =>
  q
    .updateTable("sessions")
    .set({ message_count: sql<number>`message_count + 1`, updated_at: now })
    .where("id", "=", session_id),
);

/**
 * Appends to the conversation and counts. The caller holds the thread's row (`advanceThread`), which keeps positions
 * apart. The id of a message that this session has gives that message, unchanged and counted once.
 */
export function* insertMessage({ db, now, newId }: SqlContext, input: NewMessage): Tx<Message> {
  const created_at = now();
  const message = parseNewMessage(input, { id: newId(), created_at });
  const { session_id } = message;
  const same = input.id ? [selectSame(db, { session_id, id: message.id })] : [];
  const [found, known] = yield* all([selectEnd(db, { session_id }), ...same]);
  if (known?.rows[0]) return toMessage(known.rows[0] as unknown as MessageRow);
  const { scope, last } = (found?.rows[0] ?? {}) as { scope?: string; last?: number | null };
  if (scope === undefined) throw sessionNotFound(session_id);
  if (message.parent_id !== null) {
    const ofSession = db.q.selectFrom("messages").where("session_id", "=", session_id);
    const parent = yield* first(ofSession.select("id").where("id", "=", message.parent_id));
    if (!parent) throw new AppError("message_not_found", `Session ${session_id} has no message ${message.parent_id}`);
  }
  const row = toMessageRow(message, scope, (last ?? 0) + 1);
  yield* all([insertRow(db, row), countOneMore(db, { session_id, now: created_at })]);
  return message;
}

/** The session's row is the lock: a message that comes meanwhile is either deleted and not counted, or kept and counted. */
function* deleteMessages({ db, now }: SqlContext, session_id: string): Tx<number> {
  const reset = db.q.updateTable("sessions").set({ message_count: 0, updated_at: now() }).where("id", "=", session_id);
  if ((yield* changes(reset)) === 0) return 0;
  return yield* changes(db.q.deleteFrom("messages").where("session_id", "=", session_id));
}
