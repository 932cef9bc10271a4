import { AppError } from "@cognition/contract";
import type { ChatSessionStore } from "./chat-session-store.ts";
import { createMemorySessionStore } from "./memory-session-store.ts";
import { createSqlSessionStore, type SqlSessionStoreOptions } from "./sql-session-store.ts";

export interface ChatStoreOptions extends Omit<SqlSessionStoreOptions, "backend"> {
  /** memory, sqlite, postgres, or a name given to `registerChatBackend`. */
  backend: string;
}

export type ChatBackend = (options: Omit<ChatStoreOptions, "backend">) => ChatSessionStore;

const backends = new Map<string, ChatBackend>([
  ["memory", ({ clock }) => createMemorySessionStore(clock && { clock })],
  ["sqlite", (options) => createSqlSessionStore({ ...options, backend: "sqlite" })],
  ["postgres", (options) => createSqlSessionStore({ ...options, backend: "postgres" })],
]);

/** Makes the back end known by that name; the function that comes back takes it out again. */
export function registerChatBackend(name: string, create: ChatBackend): () => void {
  if (backends.has(name)) {
    throw new AppError("already_exists", `A chat backend called "${name}" is registered already; take another name`);
  }
  backends.set(name, create);
  return () => {
    if (backends.get(name) === create) backends.delete(name);
  };
}

/** Not set up yet. A name that is not known is an error: nothing is used in its stead. */
export function createChatStore({ backend, ...options }: ChatStoreOptions): ChatSessionStore {
  const create = backends.get(backend);
  if (create) return create(options);
  const valid = [...backends.keys()];
  throw new AppError("unknown_backend", `No chat backend is called "${backend}". Valid are ${valid.join(", ")}.`, {
    details: { valid },
  });
}
