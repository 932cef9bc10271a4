import { AppError, type Scope } from "@cognition/contract";
import { type OpenStorageOptions, openStorage } from "../open-storage.ts";
import type { Storage } from "../storage.ts";
import type { ChatSessionStore } from "./chat-session-store.ts";

export interface SqlSessionStoreOptions extends OpenStorageOptions {
  /** Chats of other scopes don't exist for this store. */
  scope?: Scope;
}

interface Opened {
  storage: Storage;
  store: ChatSessionStore;
}

/** Chats in a SQLite file or a PostgreSQL database of their own, opened by `setup` and closed by `teardown`. */
export function createSqlSessionStore({ scope, ...options }: SqlSessionStoreOptions): ChatSessionStore {
  let opening: Promise<Opened> | undefined;

  async function open(): Promise<Opened> {
    const storage = await openStorage(options);
    return { storage, store: await storage.getChatStore(scope) };
  }

  async function store(): Promise<ChatSessionStore> {
    if (!opening) throw notInitialized();
    return (await opening).store;
  }

  return {
    setup: async () => {
      opening ??= open().catch((error) => {
        opening = undefined;
        throw error;
      });
      await opening;
    },
    teardown: async () => {
      const opened = opening;
      opening = undefined;
      await (await opened)?.storage.close();
    },
    save: async (session) => (await store()).save(session),
    load: async (user_id, chat_id) => (await store()).load(user_id, chat_id),
    delete: async (user_id, chat_id) => (await store()).delete(user_id, chat_id),
    create: async (session) => (await store()).create(session),
    update: async (session, change) => (await store()).update(session, change),
    expire: async (before) => (await store()).expire(before),
    saveMessage: async (message) => (await store()).saveMessage(message),
    getMessages: async (user_id, chat_id, query) => (await store()).getMessages(user_id, chat_id, query),
  };
}

/** The seed's StorageError, with its text. */
function notInitialized(): AppError {
  return new AppError("not_initialized", "Store not initialized — call setup() first");
}
