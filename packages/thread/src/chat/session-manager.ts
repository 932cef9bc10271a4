import { randomUUID } from "node:crypto";
import { AppError, type Chat, DEFAULT_CHAT_MODE } from "@cognition/contract";
import type { ChatChange, ChatKey, ChatSessionStore } from "./chat-session-store.ts";
import { createMemorySessionStore } from "./memory-session-store.ts";
import { type CachedSession, createSessionCache, type SessionCache } from "./session-cache.ts";
import { createTurns } from "./turns.ts";

export interface SessionManagerOptions {
  /** Set up already; without one, sessions live in this process. */
  store?: ChatSessionStore;
  default_mode?: Chat["mode"];
  /** What another process did to a chat (cleared it, switched its mode) is seen after this time at the latest. */
  cache_ms?: number;
  clock?: () => Date;
  ids?: () => string;
}

export interface SessionResult extends Pick<ChatChange, "cost" | "messages"> {
  /** Kept as it is when null, undefined or "". */
  claude_session_id?: string | null;
}

/** Sessions are values: each call gives a copy, and changes go through these functions. */
export interface SessionManager {
  /** From the cache, else the store, else a new one, which is stored when this resolves. However many ask, it is one. */
  getOrCreate(
    user_id: string,
    chat_id: string,
    working_directory: string,
    more?: { mode?: Chat["mode"] },
  ): Promise<Chat>;
  /** What the cache holds of an active session, without asking the store. */
  get(user_id: string, chat_id: string): Chat | null;
  /** Counts one message and its cost. `null` if the session has ended meanwhile: nothing is stored then. */
  updateFromResult(session: Chat, result?: SessionResult): Promise<Chat | null>;
  /** Switches the mode, moves the directory, or clears `claude_session_id` with null. `null` as above. */
  update(
    session: Chat,
    change: Pick<ChatChange, "mode" | "working_directory" | "claude_session_id">,
  ): Promise<Chat | null>;
  deactivate(user_id: string, chat_id: string): Promise<void>;
  /** Ends the session and starts a fresh one in the same directory; `null` if the chat has none. The log stays. */
  reset(user_id: string, chat_id: string): Promise<Chat | null>;
  /** Ends sessions that nobody used for so long, here and in the store, so that they don't come back. How many. */
  cleanupExpired(max_age_hours?: number): Promise<number>;
}

const DEFAULT_CACHE_MS = 1_000;
/** Expiry counts in hours: writing each use would cost a commit for every message that comes in. */
const TOUCH_EVERY_MS = 60_000;
const HOUR_MS = 3_600_000;

interface Parts {
  store: ChatSessionStore;
  cache: SessionCache;
  now: () => Date;
  newSession(key: ChatKey, working_directory: string, mode?: Chat["mode"]): Chat;
}

export function createSessionManager(options: SessionManagerOptions = {}): SessionManager {
  const parts = createParts(options);
  const { store, cache, now, newSession } = parts;
  const inTurn = createTurns();
  const change = (session: Chat, wanted: ChatChange) =>
    inTurn(session, () => changeSession(parts, session, { ...wanted, last_used: now().toISOString() }));

  return {
    getOrCreate: (user_id, chat_id, working_directory, { mode } = {}) => {
      const key = { user_id, chat_id };
      return inTurn(key, async () => {
        const chat = await useSession(parts, key);
        return chat ?? copy(cache.remember(await store.create(newSession(key, working_directory, mode))));
      });
    },
    get: (user_id, chat_id) => {
      const cached = cache.find({ user_id, chat_id });
      return cached ? copy(cached) : null;
    },
    updateFromResult: (session, { claude_session_id, ...result } = {}) =>
      change(session, { ...result, message_count_delta: 1, ...(claude_session_id && { claude_session_id }) }),
    update: change,
    deactivate: (user_id, chat_id) =>
      inTurn({ user_id, chat_id }, async () => {
        await store.delete(user_id, chat_id);
        cache.forget({ user_id, chat_id });
      }),
    reset: (user_id, chat_id) => inTurn({ user_id, chat_id }, () => resetSession(parts, { user_id, chat_id })),
    cleanupExpired: (max_age_hours = 24) => cleanUp(parts, max_age_hours),
  };
}

function createParts(options: SessionManagerOptions): Parts {
  const { store = createMemorySessionStore(), default_mode = DEFAULT_CHAT_MODE, cache_ms = DEFAULT_CACHE_MS } = options;
  const { clock = () => new Date(), ids = randomUUID } = options;
  return {
    store,
    cache: createSessionCache(cache_ms, clock),
    now: clock,
    newSession: ({ user_id, chat_id }, working_directory, mode = default_mode) => {
      const created_at = clock().toISOString();
      return {
        ...{ session_id: ids(), user_id, chat_id, working_directory, claude_session_id: null, mode },
        ...{ total_cost: 0, message_count: 0, is_active: true, created_at, last_used: created_at },
      };
    },
  };
}

/** The active session, used now; null if there is none. */
async function useSession({ store, cache, now }: Parts, key: ChatKey): Promise<Chat | null> {
  const cached = cache.findFresh(key) ?? (await loadSession({ store, cache }, key));
  if (!cached) return null;
  const last_used = now().toISOString();
  if (now().getTime() - Date.parse(cached.stored_last_used) >= TOUCH_EVERY_MS) {
    return changeSession({ store, cache }, cached.chat, { last_used });
  }
  if (cached.chat.last_used < last_used) cached.chat.last_used = last_used;
  return copy(cached);
}

async function loadSession({ store, cache }: Pick<Parts, "store" | "cache">, key: ChatKey) {
  const chat = await store.load(key.user_id, key.chat_id);
  if (chat) return cache.remember(chat);
  cache.forget(key);
  return undefined;
}

/** Null: it has ended, maybe by another process's doing, and what the cache says of it is void. */
async function changeSession(
  { store, cache }: Pick<Parts, "store" | "cache">,
  session: Chat,
  change: ChatChange,
): Promise<Chat | null> {
  const chat = await store.update(session, change);
  if (chat) return copy(cache.remember(chat));
  cache.forget(session);
  return null;
}

async function resetSession({ store, cache, newSession }: Parts, key: ChatKey): Promise<Chat | null> {
  const current = await store.load(key.user_id, key.chat_id);
  if (!current) {
    cache.forget(key);
    return null;
  }
  const fresh = newSession(key, current.working_directory);
  await store.save(fresh);
  return copy(cache.remember(fresh));
}

async function cleanUp({ store, cache, now }: Parts, max_age_hours: number): Promise<number> {
  if (!(max_age_hours >= 0)) {
    throw new AppError("validation_failed", `max_age_hours must be a number from 0, not ${max_age_hours}`);
  }
  const before = new Date(now().getTime() - max_age_hours * HOUR_MS).toISOString();
  for (const { chat, stored_last_used } of cache.values()) {
    // Used since, which the store was not told yet.
    if (stored_last_used < before && chat.last_used >= before) await store.update(chat, { last_used: chat.last_used });
  }
  const ended = await store.expire(before);
  for (const { chat } of cache.values()) if (chat.last_used < before) cache.forget(chat);
  return ended;
}

function copy({ chat }: CachedSession): Chat {
  return { ...chat };
}
