import type { ChatKey } from "./chat-session-store.ts";

/** A map by (user_id, chat_id). Nested, never a joined text: ("a:b", "c") and ("a", "b:c") are two chats. */
export interface PairMap<V> {
  get(key: ChatKey): V | undefined;
  set(key: ChatKey, value: V): void;
  delete(key: ChatKey): void;
  values(): V[];
}

export function createPairMap<V>(): PairMap<V> {
  const users = new Map<string, Map<string, V>>();
  return {
    get: ({ user_id, chat_id }) => users.get(user_id)?.get(chat_id),
    set: ({ user_id, chat_id }, value) => {
      const chats = users.get(user_id) ?? new Map<string, V>();
      users.set(user_id, chats.set(chat_id, value));
    },
    delete: ({ user_id, chat_id }) => {
      const chats = users.get(user_id);
      chats?.delete(chat_id);
      if (chats?.size === 0) users.delete(user_id);
    },
    values: () => [...users.values()].flatMap((chats) => [...chats.values()]),
  };
}
