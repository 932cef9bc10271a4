import { z } from "zod";
import { MAX_PATH_LENGTH } from "./limits.ts";
import { offsetInfo, offsets } from "./page.ts";
import { SessionMode } from "./session.ts";
import { text } from "./text.ts";
import { Timestamp } from "./time.ts";

/** `claude_session_id` continues a conversation of the SDK behind the chat; cleared, the next message starts afresh. */
export const Chat = z.strictObject({
  session_id: z.string(),
  user_id: z.string(),
  chat_id: z.string(),
  working_directory: z.string(),
  claude_session_id: z.string().nullable(),
  mode: SessionMode,
  total_cost: z.number().nonnegative(),
  message_count: z.int().nonnegative(),
  is_active: z.boolean(),
  created_at: Timestamp,
  last_used: Timestamp,
});
export type Chat = z.infer<typeof Chat>;

export const DEFAULT_CHAT_MODE = "plan" satisfies SessionMode;

/** Get or create. No defaults here: what is left out keeps its value in a chat that exists. */
export const PutChat = z.strictObject({
  working_directory: text("working_directory", MAX_PATH_LENGTH, 1).optional(),
  mode: SessionMode.optional(),
});
export type PutChat = z.infer<typeof PutChat>;

export const ChatMessage = z.strictObject({
  id: z.int().positive(),
  user_id: z.string(),
  chat_id: z.string(),
  role: z.enum(["user", "assistant"]),
  content: z.string(),
  cost: z.number().nonnegative().nullable(),
  duration_ms: z.int().nonnegative().nullable(),
  session_id: z.string().nullable(),
  created_at: Timestamp,
});
export type ChatMessage = z.infer<typeof ChatMessage>;

/** Oldest first, as they were logged. */
export const ListChatMessages = z.strictObject({ ...offsets });
export type ListChatMessages = z.infer<typeof ListChatMessages>;

export const ChatMessagePage = z.strictObject({ messages: z.array(ChatMessage), ...offsetInfo });
export type ChatMessagePage = z.infer<typeof ChatMessagePage>;
