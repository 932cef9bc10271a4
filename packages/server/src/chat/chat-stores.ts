import type { Scope } from "@cognition/contract";
import { type ChatSessionStore, createChatStore, type Storage } from "@cognition/thread";
import { scopeKey } from "../scope-key.ts";

export interface ChatStoresOptions {
  chat: { backend?: string | undefined };
}

/**
 * Where each scope's chats are kept: in the platform's own storage, unless the configuration names another back end, which
 * a program registered under that name. One that is not known stops the start.
 */
export function createChatStores(
  storage: Pick<Storage, "backend" | "getChatStore">,
  { chat: { backend = storage.backend } }: ChatStoresOptions,
): (scope: Scope) => Promise<ChatSessionStore> {
  if (backend === storage.backend) return (scope) => storage.getChatStore(scope);
  createChatStore({ backend });
  const stores = new Map<string, Promise<ChatSessionStore>>();

  async function open(scope: Scope): Promise<ChatSessionStore> {
    const store = createChatStore({ backend, scope });
    await store.setup();
    return store;
  }

  return (scope) => {
    const key = scopeKey(scope);
    const store = stores.get(key) ?? open(scope);
    stores.set(key, store);
    store.catch(() => stores.delete(key)); // the next one tries anew
    return store;
  };
}
