import type { Chat } from "@cognition/contract";
import { parseChat, parseChatChange, parseChatKey, parseChatMessage, sessionEnded, toUtc } from "./chat-input.ts";
import type { ChatSessionStore, NewChatMessage } from "./chat-session-store.ts";
import { createMemoryMessageLog } from "./memory-message-log.ts";
import { createPairMap } from "./pair-map.ts";

export interface MemorySessionStoreOptions {
  clock?: () => Date;
}

/** In this process and gone with it. A session that ends is removed; only its id is kept, so that it stays ended. */
export function createMemorySessionStore({
  clock = () => new Date(),
}: MemorySessionStoreOptions = {}): ChatSessionStore {
  const sessions = createPairMap<Chat>();
  const log = createMemoryMessageLog();
  const endedIds = createPairMap<Set<string>>();

  function end(chat: Chat): void {
    const ids = endedIds.get(chat) ?? new Set();
    endedIds.set(chat, ids.add(chat.session_id));
    sessions.delete(chat);
  }

  function refuseEnded(chat: Chat): void {
    if (endedIds.get(chat)?.has(chat.session_id)) throw sessionEnded(chat);
  }

  const parseMessage = (message: NewChatMessage) => parseChatMessage(message, clock().toISOString());

  return {
    setup: async () => undefined,
    teardown: async () => undefined,
    save: async (session) => {
      const chat = parseChat(session);
      const current = sessions.get(chat);
      if (!chat.is_active) {
        if (!current || current.session_id === chat.session_id) end(chat);
        return;
      }
      refuseEnded(chat);
      if (current && current.session_id !== chat.session_id) end(current);
      sessions.set(chat, chat);
    },
    load: async (user_id, chat_id) => {
      const chat = sessions.get(parseChatKey({ user_id, chat_id }));
      return chat ? { ...chat } : null;
    },
    delete: async (user_id, chat_id) => {
      const chat = sessions.get(parseChatKey({ user_id, chat_id }));
      if (chat) end(chat);
    },
    create: async (session) => {
      const chat = parseChat(session);
      const current = sessions.get(chat);
      if (current) return { ...current };
      refuseEnded(chat);
      sessions.set(chat, { ...chat, is_active: true });
      return { ...chat, is_active: true };
    },
    update: async (key, change) => {
      const place = parseChatKey(key);
      const { message_count_delta, cost, messages = [], last_used = "", ...fields } = parseChatChange(change);
      const rows = messages.map((message) => parseMessage({ ...message, ...place, session_id: key.session_id }));
      const chat = sessions.get(place);
      if (chat?.session_id !== key.session_id) return null;
      Object.assign(chat, fields);
      chat.message_count += message_count_delta;
      chat.total_cost += cost;
      if (chat.last_used < last_used) chat.last_used = last_used;
      for (const row of rows) log.append(row);
      return { ...chat };
    },
    expire: async (before) => {
      const limit = toUtc(before);
      const old = sessions.values().filter((chat) => chat.last_used < limit);
      for (const chat of old) end(chat);
      return old.length;
    },
    saveMessage: async (message) => log.append(parseMessage(message)),
    getMessages: log.getMessages,
  };
}
