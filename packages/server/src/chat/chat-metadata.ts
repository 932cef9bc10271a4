import type { ChatKey } from "@cognition/thread";

const USER = "chat.user_id";
const CHAT = "chat.chat_id";

/** What marks a session as one of a chat's. */
export function chatMetadata({ user_id, chat_id }: ChatKey): Record<string, string> {
  return { [USER]: user_id, [CHAT]: chat_id };
}

/** New metadata of a session, with the mark that it has: without it, what was said would be gone from the chat's log. */
export function keepChat(
  metadata: Record<string, string>,
  stored: Readonly<Record<string, string>>,
): Record<string, string> {
  const { [USER]: user_id, [CHAT]: chat_id } = stored;
  if (user_id === undefined || chat_id === undefined) return metadata;
  return { ...metadata, ...chatMetadata({ user_id, chat_id }) };
}
