import type { ChatSessionStore } from "../chat/chat-session-store.ts";

/** One chat store with data of its own, empty at first and set up. A test disposes of it, whatever happened. */
export interface ChatStoreFixture {
  store: ChatSessionStore;
  /** Tears down and sets up again on the same data; absent where data does not outlive the process. */
  reopen?: () => Promise<ChatSessionStore>;
  /** One more instance on the same data, as another process has it; absent where there can be only one. */
  second?: () => Promise<ChatSessionStore>;
  /** One that was not set up; absent where there is nothing to set up. */
  unready?: () => ChatSessionStore;
  dispose(): Promise<void>;
}

export type OpenChatStore = () => Promise<ChatStoreFixture>;

/** A test's body with a fresh store, disposed of whatever happens. */
export function withChatStore(
  open: OpenChatStore,
  body: (fixture: ChatStoreFixture) => Promise<void>,
): () => Promise<void> {
  return async () => {
    const fixture = await open();
    try {
      await body(fixture);
    } finally {
      await fixture.dispose();
    }
  };
}
