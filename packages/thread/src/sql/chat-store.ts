import { AppError, type Chat, DEFAULT_PAGE_LIMIT, type Scope } from "@cognition/contract";
import { type Selectable, sql } from "kysely";
import {
  checkMessageQuery,
  parseChat,
  parseChatChange,
  parseChatKey,
  parseChatMessage,
  sessionEnded,
  toUtc,
} from "../chat/chat-input.ts";
import type { ChatChange, ChatKey, ChatSessionStore } from "../chat/chat-session-store.ts";
import { chatMessageRow, insertChatMessage, toChatMessage } from "./chat-message-row.ts";
import type { SqlContext } from "./context.ts";
import type { Database } from "./database.ts";
import { atMost } from "./limit.ts";
import { pageBounds } from "./page-bounds.ts";
import { scopeText, scopeTextOf } from "./scope.ts";
import { all, changes, first, type Tx } from "./statement.ts";
import type { Tables } from "./tables.ts";

type Place = ChatKey & { scope: string };

/** A conflict means that another writer was first. It can lose to a third one, but not without end. */
const ATTEMPTS = 10;

export function createChatStore(ctx: SqlContext, scopes?: Scope): ChatSessionStore {
  const { db, now } = ctx;
  const scope = scopeText(scopes);
  const at = (key: ChatKey): Place => ({ scope, ...parseChatKey(key) });

  return {
    setup: async () => undefined,
    teardown: async () => undefined,
    save: async (session) => {
      const chat = parseChat(session);
      await db.transaction(() => saveChat(db, scope, chat));
    },
    load: async (user_id, chat_id) => {
      const [row] = await db.read(active(db, at({ user_id, chat_id })), scopeTextOf(scopes));
      return row ? toChat(row) : null;
    },
    delete: async (user_id, chat_id) => {
      const place = at({ user_id, chat_id });
      await db.transaction(() => endActive(db, place));
    },
    create: async (session) => {
      const chat = parseChat(session);
      return db.transaction(() => createChat(db, scope, chat));
    },
    update: async ({ user_id, chat_id, session_id }, change) => {
      const place = at({ user_id, chat_id });
      const input = parseChatChange(change);
      const rows = (input.messages ?? []).map((message) =>
        chatMessageRow(scope, parseChatMessage({ ...message, user_id, chat_id, session_id }, now())),
      );
      return db.transaction(function* () {
        const row = yield* first(updateActive(db, { ...place, session_id }, input));
        if (row) yield* all(rows.map((each) => insertChatMessage(db, each)));
        return row ? toChat(row) : null;
      });
    },
    expire: async (before) => {
      const limit = toUtc(before);
      const old = ended(db).where("scope", "=", scope).where("last_used", "<", limit);
      return db.transaction(() => changes(old));
    },
    saveMessage: async (message) => {
      const row = chatMessageRow(scope, parseChatMessage(message, now()));
      return db.transaction(function* () {
        const stored = yield* first(db.q.insertInto("chat_messages").values(row).returningAll());
        if (!stored) throw new AppError("internal", "A chat message was stored and can't be found");
        return toChatMessage(stored);
      });
    },
    getMessages: async (user_id, chat_id, query = {}) => {
      const { session_id, order, ...page } = checkMessageQuery(query);
      const { limit, offset } = pageBounds(page, DEFAULT_PAGE_LIMIT);
      let found = db.q.selectFrom("chat_messages").selectAll().where("scope", "=", scope);
      found = found.where("user_id", "=", user_id).where("chat_id", "=", chat_id);
      if (session_id !== undefined) found = found.where("session_id", "=", session_id);
      const inOrder = found.orderBy("created_at", order).orderBy("id", order);
      return (await db.read(inOrder.limit(atMost(limit)).offset(offset), scopeTextOf(scopes))).map(toChatMessage);
    },
  };
}

/** `is_active = 1` is written out in every statement, so that the partial indexes fit. */
const IS_ACTIVE = sql<boolean>`is_active = 1`;

function active(db: Database, { scope, user_id, chat_id }: Place) {
  const query = db.q.selectFrom("chats").selectAll().where("scope", "=", scope).where("user_id", "=", user_id);
  return query.where("chat_id", "=", chat_id).where(IS_ACTIVE);
}

function ended(db: Database) {
  return db.q.updateTable("chats").set({ is_active: 0 }).where(IS_ACTIVE);
}

function endActive(db: Database, { scope, user_id, chat_id }: Place): Tx<number> {
  return changes(ended(db).where("scope", "=", scope).where("user_id", "=", user_id).where("chat_id", "=", chat_id));
}

function insertChat(db: Database, scope: string, chat: Chat): Tx<number> {
  const row = { ...chat, scope, is_active: chat.is_active ? 1 : 0 };
  // Waits for whoever is inserting the same chat, and then does nothing.
  return changes(
    db.q
      .insertInto("chats")
      .values(row)
      .onConflict((conflict) => conflict.doNothing()),
  );
}

function* createChat(db: Database, scope: string, chat: Chat): Tx<Chat> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const stored = yield* insertChat(db, scope, { ...chat, is_active: true });
    const row = yield* first(active(db, { scope, ...chat }));
    // None: the one that was in the way has ended since, or it is this very session that had ended.
    if (row) return toChat(row);
    if (stored === 0 && (yield* first(bySession(db, scope, chat)))) throw sessionEnded(chat);
  }
  throw contended(chat);
}

function* saveChat(db: Database, scope: string, chat: Chat): Tx<void> {
  const { user_id, chat_id, session_id, is_active, ...fields } = chat;
  const update = db.q
    .updateTable("chats")
    .set({ ...fields, is_active: is_active ? 1 : 0 })
    .where("scope", "=", scope)
    .where("user_id", "=", user_id)
    .where("chat_id", "=", chat_id)
    .where("session_id", "=", session_id);
  if ((yield* changes(is_active ? update.where(IS_ACTIVE) : update)) > 0) return;
  if (yield* first(bySession(db, scope, chat))) throw sessionEnded(chat);
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    if (is_active) yield* endActive(db, { scope, user_id, chat_id });
    if ((yield* insertChat(db, scope, chat)) > 0) return;
  }
  throw contended(chat);
}

function bySession(db: Database, scope: string, { user_id, chat_id, session_id }: Chat) {
  const query = db.q.selectFrom("chats").select("pk").where("scope", "=", scope).where("user_id", "=", user_id);
  return query.where("chat_id", "=", chat_id).where("session_id", "=", session_id);
}

function updateActive(
  db: Database,
  { scope, user_id, chat_id, session_id }: Place & { session_id: string },
  change: ChatChange & { message_count_delta: number; cost: number },
) {
  const { message_count_delta, cost, last_used, messages: _, ...fields } = change;
  const later = sql<string>`case when last_used < ${last_used ?? ""} then ${last_used ?? ""} else last_used end`;
  return db.q
    .updateTable("chats")
    .set({
      ...fields,
      message_count: sql<number>`message_count + ${message_count_delta}`,
      total_cost: sql<number>`total_cost + ${cost}`,
      last_used: later,
    })
    .where("scope", "=", scope)
    .where("user_id", "=", user_id)
    .where("chat_id", "=", chat_id)
    .where("session_id", "=", session_id)
    .where(IS_ACTIVE)
    .returningAll();
}

function toChat(row: Selectable<Tables["chats"]>): Chat {
  const { pk: _, scope: __, is_active, mode, ...fields } = row;
  return { ...fields, mode: mode as Chat["mode"], is_active: is_active === 1 };
}

function contended({ user_id, chat_id }: ChatKey): AppError {
  return new AppError(
    "storage_busy",
    `Chat (${user_id}, ${chat_id}) is being replaced again and again by others; nothing was stored, try again`,
  );
}
