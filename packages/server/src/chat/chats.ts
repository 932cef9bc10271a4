import { resolve } from "node:path";
import {
  AppError,
  type Chat,
  CreateSession,
  DEFAULT_CHAT_MODE,
  isAppError,
  type PutChat,
  parseInput,
  type Scope,
  type Session,
} from "@cognition/contract";
import type { ChatKey, ChatSessionStore, Storage } from "@cognition/thread";
import { type ChatLog, createChatLog } from "./chat-log.ts";
import { chatMetadata } from "./chat-metadata.ts";

/** Where the platform keeps its sessions. */
interface PlatformSessions {
  create(session: CreateSession, scope?: Scope): Promise<Session>;
  createBeside(session_id: string, session: CreateSession, scope?: Scope): Promise<Session>;
  get(session_id: string, scope?: Scope): Promise<Session>;
  update(session_id: string, patch: { mode: Session["mode"] }, scope?: Scope): Promise<Session>;
  delete(session_id: string, scope?: Scope): Promise<void>;
}

export interface ChatsOptions {
  storage: Pick<Storage, "listSpokenMessages" | "getRun" | "usage">;
  sessions: PlatformSessions;
  /** Set up already. */
  storeFor(scope: Scope): Promise<ChatSessionStore>;
}

/**
 * Chats by (user_id, chat_id). A chat is a key to a session of the platform: messages are sent there, and its log is that
 * session's messages. Mode, folder, count, cost and time of the last use are that session's too, so there is nothing to keep
 * equal.
 */
export interface Chats {
  /** The active chat, made if there is none; of many at once one is made. */
  put(key: ChatKey, wanted: PutChat, scope?: Scope): Promise<Chat>;
  /** `chat_not_found` if there is none that is active. */
  get(key: ChatKey, scope?: Scope): Promise<Chat>;
  /** Ends it. Its sessions stay, and its log. */
  deactivate(key: ChatKey, scope?: Scope): Promise<void>;
  /** A fresh session in the same folder and mode; the former one stays readable. */
  clear(key: ChatKey, scope?: Scope): Promise<Chat>;
  log: ChatLog;
}

export function createChats(options: ChatsOptions): Chats {
  const { sessions, storeFor, storage } = options;

  /** Null if there is none that is active. One ends with its session: nobody could have it, or another in its place. */
  async function find(key: ChatKey, scope: Scope): Promise<Chat | null> {
    const store = await storeFor(scope);
    const chat = await store.load(key.user_id, key.chat_id);
    if (!chat) return null;
    const session = await findSession(chat, scope);
    if (session) return asIn(session, chat);
    await store.save({ ...chat, is_active: false });
    return null;
  }

  async function findSession({ session_id }: Chat, scope: Scope): Promise<Session | undefined> {
    try {
      return await sessions.get(session_id, scope);
    } catch (error) {
      if (isAppError(error, "session_not_found")) return undefined;
      throw error;
    }
  }

  async function load(key: ChatKey, scope: Scope): Promise<Chat> {
    const chat = await find(key, scope);
    if (chat) return chat;
    throw new AppError("chat_not_found", `User ${key.user_id} has no active chat ${key.chat_id}; PUT makes one`);
  }

  /** The session comes first: a chat that names none could not be used. One that lost the race goes again, unused. */
  async function create(key: ChatKey, wanted: PutChat, scope: Scope): Promise<Chat> {
    const session = await sessions.create(sessionOf(key, wanted), scope);
    const chat = await (await storeFor(scope)).create(toChat(key, session));
    if (chat.session_id !== session.id) await sessions.delete(session.id, scope);
    return chat;
  }

  /** Null if the chat ended in between. */
  async function change(chat: Chat, { mode, working_directory }: PutChat, scope: Scope): Promise<Chat | null> {
    if (working_directory !== undefined && resolve(working_directory) !== chat.working_directory) {
      const message = `Chat ${chat.chat_id} works in ${chat.working_directory}; clear or deactivate it to begin elsewhere`;
      throw new AppError("workspace_path_refused", message);
    }
    const store = await storeFor(scope);
    if (mode === undefined || mode === chat.mode) return chat;
    await sessions.update(chat.session_id, { mode }, scope);
    return store.update(chat, { mode });
  }

  async function present(chat: Chat, scope: Scope): Promise<Chat> {
    const [session, total_cost] = await Promise.all([
      sessions.get(chat.session_id, scope),
      costOf(storage, chat.session_id),
    ]);
    const { message_count, updated_at } = session;
    return { ...asIn(session, chat), message_count, total_cost, last_used: later(updated_at, chat.last_used) };
  }

  return {
    log: createChatLog(storage),
    put: async (key, wanted, scope = {}) => {
      const known = await find(key, scope);
      const changed = known && (await change(known, wanted, scope));
      return present(changed ?? (await create(key, wanted, scope)), scope);
    },
    get: async (key, scope = {}) => present(await load(key, scope), scope),
    deactivate: async (key, scope = {}) => {
      await load(key, scope);
      await (await storeFor(scope)).delete(key.user_id, key.chat_id);
    },
    clear: async (key, scope = {}) => {
      const current = await load(key, scope);
      const { mode } = await sessions.get(current.session_id, scope);
      const session = await sessions.createBeside(current.session_id, sessionOf(key, { mode }), scope);
      const fresh = toChat(key, session);
      await (await storeFor(scope)).save(fresh);
      return present(fresh, scope);
    },
  };
}

function sessionOf(key: ChatKey, { working_directory, mode = DEFAULT_CHAT_MODE }: PutChat): CreateSession {
  const wanted = { title: key.chat_id, mode, metadata: chatMetadata(key) };
  const path = working_directory === undefined ? {} : { workspace_path: working_directory };
  return parseInput(CreateSession, { ...wanted, ...path }, "chat");
}

function toChat(key: ChatKey, { id, mode, workspace_path, created_at }: Session): Chat {
  return {
    session_id: id,
    ...key,
    working_directory: workspace_path ?? "",
    claude_session_id: null,
    mode,
    total_cost: 0,
    message_count: 0,
    is_active: true,
    created_at,
    last_used: created_at,
  };
}

/** Its mode and folder are its session's: an approved plan or a PATCH changes the one there, a root that was moved the other. */
function asIn({ mode, workspace_path }: Session, chat: Chat): Chat {
  return { ...chat, mode, working_directory: workspace_path ?? "" };
}

/** Of two times in one format, as all of ours are. */
function later(a: string, b: string): string {
  return [a, b].sort()[1] as string;
}

/** Of what has a price; the runs that have ended count. */
async function costOf({ usage }: Pick<Storage, "usage">, session_id: string): Promise<number> {
  const { rows } = await usage.getUsage({ group_by: "model", session_id });
  return rows.reduce((sum, { estimated_cost }) => sum + (estimated_cost ?? 0), 0);
}
