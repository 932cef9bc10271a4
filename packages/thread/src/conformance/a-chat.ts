import type { Chat } from "@cognition/contract";

export function aChat(fields: Partial<Chat> = {}): Chat {
  return {
    ...{ session_id: "s1", user_id: "u", chat_id: "c", working_directory: "/project", claude_session_id: null },
    ...{ mode: "plan", total_cost: 0, message_count: 0, is_active: true },
    ...{ created_at: "2024-01-01T00:00:00.000Z", last_used: "2024-01-01T00:00:00.000Z" },
    ...fields,
  };
}
