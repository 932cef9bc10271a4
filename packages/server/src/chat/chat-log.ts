import type { ChatMessage, Message, Run, Scope, Session } from "@cognition/contract";
import type { ChatKey, Storage } from "@cognition/thread";

type Source = Pick<Storage, "listSessions" | "countSessions" | "getMessagesBySession" | "getRun">;

/** What was said in a chat, over all its sessions, oldest first. */
export interface ChatLog {
  list(
    key: ChatKey,
    page: { limit: number; offset: number },
    scope?: Scope,
  ): Promise<{ messages: ChatMessage[]; total: number }>;
}

/** What marks a session as one of a chat's. */
export function chatMetadata({ user_id, chat_id }: ChatKey): Record<string, string> {
  return { "chat.user_id": user_id, "chat.chat_id": chat_id };
}

const SAID_BY = ["user", "assistant"] as const;
const SESSIONS_AT_A_TIME = 100;
const MESSAGES_AT_A_TIME = 500;

export function createChatLog(storage: Source): ChatLog {
  return {
    list: async (key, { limit, offset }, scope = {}) => {
      const said: Message[] = [];
      for (const session of await sessionsOf(storage, key, scope)) said.push(...(await saidIn(storage, session)));
      const shown = said.slice(offset, offset + limit);
      const runs = await runsOf(storage, shown);
      const messages = shown.map((message, index) => toChatMessage(key, message, offset + index + 1, runs));
      return { messages, total: said.length };
    },
  };
}

async function sessionsOf(storage: Source, key: ChatKey, scope: Scope): Promise<Session[]> {
  const filter = { scope, metadata_filters: chatMetadata(key) };
  const found: Session[] = [];
  for (let offset = 0; ; offset += SESSIONS_AT_A_TIME) {
    const page = await storage.listSessions({ ...filter, limit: SESSIONS_AT_A_TIME, offset });
    found.push(...page);
    if (page.length < SESSIONS_AT_A_TIME) return found.reverse();
  }
}

/** What a tool said, and an answer that is only a call of one, is not part of the chat. */
async function saidIn(storage: Source, { id }: Session): Promise<Message[]> {
  const said: Message[] = [];
  for (let offset = 0; ; offset += MESSAGES_AT_A_TIME) {
    const page = { limit: MESSAGES_AT_A_TIME, offset, order: "asc" as const };
    const { messages, total } = await storage.getMessagesBySession(id, page);
    said.push(...messages.filter((message) => SAID_BY.some((role) => role === message.role) && textOf(message) !== ""));
    if (messages.length === 0 || offset + messages.length >= total) return said;
  }
}

/** Cost and duration belong to a run as a whole: they stand at its last answer. */
async function runsOf(storage: Source, messages: readonly Message[]): Promise<ReadonlyMap<string, Run>> {
  const last = new Map<string, Message>();
  for (const message of messages) {
    if (message.role === "assistant" && message.run_id) last.set(message.run_id, message);
  }
  const runs = await Promise.all(
    [...last].map(async ([run_id, { id }]) => [id, await storage.getRun(run_id)] as const),
  );
  return new Map(runs);
}

function toChatMessage(key: ChatKey, message: Message, id: number, runs: ReadonlyMap<string, Run>): ChatMessage {
  const run = runs.get(message.id);
  const { role, session_id, created_at } = message;
  return {
    id,
    ...key,
    role: role as ChatMessage["role"],
    content: textOf(message),
    cost: run?.usage?.estimated_cost ?? null,
    duration_ms: run ? durationOf(run) : null,
    session_id,
    created_at,
  };
}

function durationOf({ started_at, finished_at }: Run): number | null {
  return started_at && finished_at ? Date.parse(finished_at) - Date.parse(started_at) : null;
}

function textOf({ content }: Message): string {
  if (typeof content === "string") return content;
  return content.map((block) => ("text" in block && typeof block.text === "string" ? block.text : "")).join("");
}
