import type { Chat, ChatMessage } from "@cognition/contract";

export interface ChatKey {
  user_id: string;
  chat_id: string;
}

/** What a result or a switch does to a session: increments, never totals that were read before. */
export interface ChatChange {
  message_count_delta?: number;
  cost?: number;
  /** `null` clears it: the next message starts a fresh conversation. */
  claude_session_id?: string | null;
  mode?: Chat["mode"];
  working_directory?: string;
  /** Never moves back. */
  last_used?: string;
  /** Logged in the same step: after a crash either the count and the log have them, or neither. */
  messages?: readonly Omit<NewChatMessage, "user_id" | "chat_id" | "session_id">[];
}

export interface NewChatMessage extends ChatKey {
  role: ChatMessage["role"];
  content: string;
  cost?: number | null;
  duration_ms?: number | null;
  session_id?: string | null;
  created_at?: string;
}

export interface ChatMessageQuery {
  /** 50 unless told. */
  limit?: number;
  offset?: number;
  /** Only of this session, also of one that has ended. */
  session_id?: string;
  order?: "asc" | "desc";
}

/**
 * Chat sessions by (user_id, chat_id), and their log: the `SessionStore` of the seed (here that name is the platform
 * sessions' port). A chat has at most one active session. A session that has ended never becomes active again. Times go
 * in with any offset and come out in UTC. What is handed in or out is a copy. Calls before `setup` and after
 * `teardown` reject with `not_initialized`, in stores that have something to set up.
 */
export interface ChatSessionStore {
  /** Opens what the store needs. Calling it again is harmless. */
  setup(): Promise<void>;
  teardown(): Promise<void>;
  /** Stores all fields as given. Another active session of that chat ends; one that has ended rejects with `session_inactive`. */
  save(session: Chat): Promise<void>;
  /** The active session, or null. */
  load(user_id: string, chat_id: string): Promise<Chat | null>;
  /** Ends the active session, if there is one. The log stays. */
  delete(user_id: string, chat_id: string): Promise<void>;

  /** Stores the session unless the chat has an active one, and gives the active one: of many at once, one is stored. */
  create(session: Chat): Promise<Chat>;
  /** Only while this very session is the active one: a late result finds no newer session to overwrite and gives null. */
  update(session: ChatKey & Pick<Chat, "session_id">, change: ChatChange): Promise<Chat | null>;
  /** Ends every active session last used before that time, and says how many. */
  expire(before: string): Promise<number>;

  /** Append-only. */
  saveMessage(message: NewChatMessage): Promise<ChatMessage>;
  /** Ordered by created_at, then id; oldest first unless `order` is "desc". */
  getMessages(user_id: string, chat_id: string, query?: ChatMessageQuery): Promise<ChatMessage[]>;
}
