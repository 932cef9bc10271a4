import {
  AppError,
  type Chat,
  type ChatSessionStore,
  parseChat,
  parseChatChange,
  parseChatMessage,
} from "@cognition/thread";
import { createMessageLog } from "./redis-message-log.ts";
import { createParts } from "./redis-parts.ts";
import { memberOf, toChat, toFields } from "./redis-rows.ts";
import { DELETE, EXPIRE, STORE, UPDATE } from "./scripts.ts";

export interface RedisSessionStoreOptions {
  /** redis://host:6379 */
  url: string;
  /** Stands before every key; another prefix is another world. */
  prefix?: string;
}

/**
 * Chats in one Redis server. Ended sessions stay, marked, as in SQL. How durable a write is when it resolves is up to the
 * server: `appendonly yes` and `appendfsync always` for what SQLite and PostgreSQL give.
 */
export function createRedisSessionStore({
  url,
  prefix = "cognition:chat:",
}: RedisSessionStoreOptions): ChatSessionStore {
  const parts = createParts(url, prefix);
  const { run, keys, client } = parts;

  async function store(session: Chat, how: "create" | "save"): Promise<Chat> {
    const chat = parseChat(how === "create" ? { ...session, is_active: true } : session);
    const member = memberOf(chat);
    const args = [prefix, member, how, Number(chat.is_active), Date.parse(chat.last_used), ...toFields(chat)];
    const answer = await run(STORE, chat, member, args);
    if (answer === "ended") {
      throw new AppError("session_inactive", `Chat session ${chat.session_id} has ended and was not stored`);
    }
    return toChat(answer as string[]);
  }

  return {
    setup: parts.setup,
    teardown: parts.teardown,
    save: async (session) => {
      await client();
      await store(session, "save");
    },
    create: (session) => store(session, "create"),
    load: async (user_id, chat_id) => {
      const redis = await client();
      const member = await redis.get(keys({ user_id, chat_id })[0] as string);
      if (member === null) return null;
      const chat = toChat(Object.entries(await redis.hGetAll(`${prefix}session:${member}`)).flat());
      // It may have ended between the two reads.
      return chat.is_active ? chat : null;
    },
    delete: async (user_id, chat_id) => {
      await run(DELETE, { user_id, chat_id }, "", [prefix]);
    },
    update: async (session, change) => {
      const { message_count_delta, cost, last_used = "", messages = [], ...fields } = parseChatChange(change);
      const now = new Date().toISOString();
      const { user_id, chat_id, session_id } = session;
      const log = messages
        .map((message) => parseChatMessage({ ...message, user_id, chat_id, session_id }, now))
        .flatMap((message) => [Date.parse(message.created_at), JSON.stringify(message)]);
      const set = toFields(fields);
      const used = last_used === "" ? 0 : Date.parse(last_used);
      const member = memberOf(session);
      const args = [prefix, member, message_count_delta, cost, last_used, used, set.length, ...set, ...log];
      const answer = await run(UPDATE, session, member, args);
      return answer ? toChat(answer as string[]) : null;
    },
    expire: async (before) => {
      const { last_used = before } = parseChatChange({ last_used: before });
      return Number(await run(EXPIRE, { user_id: "", chat_id: "" }, "", [prefix, Date.parse(last_used)]));
    },
    ...createMessageLog(parts),
  };
}
