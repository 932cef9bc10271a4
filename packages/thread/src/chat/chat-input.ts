import { AppError, Chat, ChatMessage, Id, PutChat, parseInput, UserId } from "@cognition/contract";
import { requireKnown } from "../sql/known-names.ts";
import { pageOrder } from "../sql/page-bounds.ts";
import type { ChatChange, ChatKey, ChatMessageQuery, NewChatMessage } from "./chat-session-store.ts";

const WorkingDirectory = PutChat.shape.working_directory.unwrap();

const ChatInput = Chat.extend({
  session_id: Id,
  user_id: UserId,
  chat_id: Id,
  working_directory: WorkingDirectory,
  claude_session_id: Id.nullable(),
});

const ChatChangeInput = ChatInput.pick({
  claude_session_id: true,
  mode: true,
  working_directory: true,
  last_used: true,
}).partial();

const MessageInput = ChatMessage.omit({ id: true }).extend({ user_id: UserId, chat_id: Id, session_id: Id.nullable() });

/** What every store checks before it writes, so that all of them refuse the same. */
export function parseChat(session: Chat): Chat {
  const { created_at, last_used } = session;
  return parseInput(ChatInput, { ...session, created_at: toUtc(created_at), last_used: toUtc(last_used) }, "session");
}

export function parseChatKey({ user_id, chat_id }: ChatKey): ChatKey {
  return parseInput(ChatInput.pick({ user_id: true, chat_id: true }), { user_id, chat_id }, "chat");
}

export function parseChatChange(change: ChatChange): ChatChange & { message_count_delta: number; cost: number } {
  const { message_count_delta = 0, cost = 0, messages, ...fields } = change;
  if (!Number.isSafeInteger(message_count_delta) || message_count_delta < 0) {
    throw new AppError(
      "validation_failed",
      `message_count_delta must be a whole number from 0, not ${message_count_delta}`,
    );
  }
  if (!Number.isFinite(cost) || cost < 0)
    throw new AppError("validation_failed", `cost must be a number from 0, not ${cost}`);
  const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
  const utc = fields.last_used === undefined ? given : { ...given, last_used: toUtc(fields.last_used) };
  parseInput(ChatChangeInput, utc, "change");
  return { ...utc, message_count_delta, cost, ...(messages && { messages }) };
}

export function parseChatMessage(message: NewChatMessage, now: string): Omit<ChatMessage, "id"> {
  const { cost = null, duration_ms = null, session_id = null, created_at } = message;
  const filled = { ...message, cost, duration_ms, session_id, created_at: created_at ? toUtc(created_at) : now };
  return parseInput(MessageInput, filled, "message");
}

/** What every store checks before it reads its log. */
export function checkMessageQuery(query: ChatMessageQuery): ChatMessageQuery & { order: "asc" | "desc" } {
  requireKnown("Chat messages", query, ["limit", "offset", "session_id", "order"]);
  return { ...query, order: pageOrder(query.order, "asc") };
}

const WITH_OFFSET = /(Z|[+-]\d\d:?\d\d)$/i;

/** Converted, not relabelled: 12:00+05:00 is 07:00Z. A time without an offset could be any, and is refused. */
export function toUtc(time: string): string {
  const ms = WITH_OFFSET.test(time) ? Date.parse(time) : Number.NaN;
  if (Number.isNaN(ms)) {
    throw new AppError("validation_failed", `${JSON.stringify(time)} is not an ISO-8601 time with Z or an offset`);
  }
  return new Date(ms).toISOString();
}

export function sessionEnded({ session_id }: Pick<Chat, "session_id">): AppError {
  return new AppError(
    "session_inactive",
    `Chat session ${session_id} has ended and was not stored. Go on with the chat's active session, or a new one.`,
  );
}
