import { AppError, type ChatSessionStore, parseChatMessage } from "@cognition/thread";
import type { RedisParts } from "./redis-parts.ts";
import { toMessage } from "./redis-rows.ts";
import { LOG } from "./scripts.ts";

const DEFAULT_PAGE = 50;

export function createMessageLog(parts: RedisParts): Pick<ChatSessionStore, "saveMessage" | "getMessages"> {
  return {
    saveMessage: async (given) => {
      await parts.client();
      const message = parseChatMessage(given, new Date().toISOString());
      const id = await parts.run(LOG, message, "", [Date.parse(message.created_at), JSON.stringify(message)]);
      return { id: Number(id), ...message };
    },
    getMessages: async (user_id, chat_id, { limit = DEFAULT_PAGE, offset = 0, session_id, order = "asc" } = {}) => {
      checkPage(limit, offset, order);
      const redis = await parts.client();
      const log = parts.keys({ user_id, chat_id })[3] as string;
      // A session's own messages have no index here: the whole log is read and sifted.
      const [first, last] = session_id === undefined ? [offset, offset + limit - 1] : [0, -1];
      if (limit === 0) return [];
      const found = (await redis.zRange(log, first, last, order === "desc" ? { REV: true } : {})).map(toMessage);
      if (session_id === undefined) return found;
      return found.filter((message) => message.session_id === session_id).slice(offset, offset + limit);
    },
  };
}

function checkPage(limit: number, offset: number, order: string): void {
  if (![limit, offset].every((n) => Number.isSafeInteger(n) && n >= 0))
    throw new AppError("validation_failed", "limit and offset must be whole numbers from 0");
  if (order !== "asc" && order !== "desc")
    throw new AppError("validation_failed", `order must be "asc" or "desc", not ${JSON.stringify(order)}`);
}
