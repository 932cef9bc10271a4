import type { Chat } from "@cognition/contract";
import type { ChatKey } from "./chat-session-store.ts";
import { createPairMap } from "./pair-map.ts";

export interface CachedSession {
  /** Its `last_used` moves with every use, the store's only now and then. */
  chat: Chat;
  stored_last_used: string;
}

export interface SessionCache {
  /** Undefined for one that is so old that the store must be asked. */
  findFresh(key: ChatKey): CachedSession | undefined;
  find(key: ChatKey): CachedSession | undefined;
  /** What the store has just said. */
  remember(chat: Chat): CachedSession;
  /** With a session's id only if it is that session, not a newer one. */
  forget(key: ChatKey & { session_id?: string }): void;
  values(): CachedSession[];
}

export function createSessionCache(cache_ms: number, clock: () => Date): SessionCache {
  const sessions = createPairMap<CachedSession & { fresh_until: number }>();
  return {
    findFresh: (key) => {
      const cached = sessions.get(key);
      return cached && clock().getTime() < cached.fresh_until ? cached : undefined;
    },
    find: sessions.get,
    remember: (chat) => {
      const fresh_until = clock().getTime() + cache_ms;
      const cached = { chat: { ...chat }, stored_last_used: chat.last_used, fresh_until };
      sessions.set(chat, cached);
      return cached;
    },
    forget: (key) => {
      const known = sessions.get(key)?.chat.session_id;
      if (key.session_id === undefined || key.session_id === known) sessions.delete(key);
    },
    values: sessions.values,
  };
}
