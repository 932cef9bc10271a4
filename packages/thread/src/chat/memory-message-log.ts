import { type ChatMessage, DEFAULT_PAGE_LIMIT } from "@cognition/contract";
import { pageBounds } from "../sql/page-bounds.ts";
import { checkMessageQuery } from "./chat-input.ts";
import type { ChatSessionStore } from "./chat-session-store.ts";
import { createPairMap } from "./pair-map.ts";

export interface MemoryMessageLog extends Pick<ChatSessionStore, "getMessages"> {
  append(message: Omit<ChatMessage, "id">): ChatMessage;
}

export function createMemoryMessageLog(): MemoryMessageLog {
  const logs = createPairMap<ChatMessage[]>();
  let lastId = 0;
  return {
    append: (message) => {
      const stored = { id: ++lastId, ...message };
      const log = logs.get(stored) ?? [];
      logs.set(stored, log);
      log.push(stored);
      return { ...stored };
    },
    getMessages: async (user_id, chat_id, query = {}) => {
      const { session_id, order, ...page } = checkMessageQuery(query);
      const { limit, offset } = pageBounds(page, DEFAULT_PAGE_LIMIT);
      const sign = order === "asc" ? 1 : -1;
      return (logs.get({ user_id, chat_id }) ?? [])
        .filter((message) => session_id === undefined || message.session_id === session_id)
        .sort((a, b) => sign * (compare(a.created_at, b.created_at) || a.id - b.id))
        .slice(offset, offset + limit)
        .map((message) => ({ ...message }));
    },
  };
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
