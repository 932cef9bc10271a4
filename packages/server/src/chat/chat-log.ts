import type { ChatMessage, Message, Run, Scope } from "@cognition/contract";
import type { ChatKey, Storage } from "@cognition/thread";
import { chatMetadata } from "./chat-metadata.ts";

type Source = Pick<Storage, "listSpokenMessages" | "getRun">;

/** What was said in a chat, over all its sessions, oldest first. */
export interface ChatLog {
  list(
    key: ChatKey,
    page: { limit: number; offset: number },
    scope?: Scope,
  ): Promise<{ messages: ChatMessage[]; total: number }>;
}

export function createChatLog(storage: Source): ChatLog {
  return {
    list: async (key, { limit, offset }, scope = {}) => {
      const filter = { scope, metadata_filters: chatMetadata(key) };
      const { messages: found, total } = await storage.listSpokenMessages(filter, { limit: limit + 1, offset });
      const shown = found.slice(0, limit);
      const runs = await runsOf(storage, shown, found[limit]);
      const messages = shown.map((message, index) => toChatMessage(key, message, offset + index + 1, runs));
      return { messages, total };
    },
  };
}

/** Cost and duration belong to a run as a whole: they stand at its last answer, which may be on the next page. */
async function runsOf(
  storage: Source,
  messages: readonly Message[],
  next: Message | undefined,
): Promise<ReadonlyMap<string, Run>> {
  const last = new Map<string, Message>();
  for (const message of messages) {
    if (message.role === "assistant" && message.run_id) last.set(message.run_id, message);
  }
  if (next?.role === "assistant" && next.run_id) last.delete(next.run_id);
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
