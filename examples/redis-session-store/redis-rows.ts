import type { Chat, ChatKey, ChatMessage } from "@cognition/thread";

const ID_DIGITS = 16;

/** JSON keeps the parts of a key apart whatever characters they have. */
export function memberOf({ user_id, chat_id, session_id }: ChatKey & Pick<Chat, "session_id">): string {
  return JSON.stringify([user_id, chat_id, session_id]);
}

/** Each value as JSON, but for the counters and the text that scripts count with and compare. */
export function toFields(chat: Partial<Chat>): string[] {
  return Object.entries(chat).flatMap(([name, value]) => [
    name,
    PLAIN.has(name) ? plain(value) : JSON.stringify(value),
  ]);
}

const PLAIN = new Set(["message_count", "total_cost", "is_active", "last_used"]);

function plain(value: unknown): string {
  return String(typeof value === "boolean" ? Number(value) : value);
}

export function toChat(flat: readonly string[]): Chat {
  const fields: Record<string, unknown> = {};
  for (let i = 0; i < flat.length; i += 2) {
    const [name = "", text = ""] = flat.slice(i, i + 2);
    if (name === "active_key") continue;
    fields[name] = name === "last_used" ? text : JSON.parse(text);
  }
  return { ...fields, is_active: fields["is_active"] === 1 } as Chat;
}

export function toMessage(text: string): ChatMessage {
  return { id: Number(text.slice(0, ID_DIGITS)), ...JSON.parse(text.slice(ID_DIGITS)) };
}
