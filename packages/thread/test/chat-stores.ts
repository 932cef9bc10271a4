import { join } from "node:path";
import { createTempDir } from "../../../testing/temp-dir.ts";
import { createChatStore } from "../src/chat/chat-backends.ts";
import type { ChatSessionStore } from "../src/chat/chat-session-store.ts";
import type { ChatStoreFixture, OpenChatStore } from "../src/conformance/open-chat-store-fixture.ts";
import { openStorage } from "../src/open-storage.ts";
import { createMigratedDatabase } from "./migrated-database.ts";

/** The one list of chat stores that come with the library. */
export const chatStores: readonly { name: string; open: OpenChatStore }[] = [
  { name: "memory", open: openMemory },
  { name: "sqlite", open: openSqlite },
  { name: "postgres", open: openPostgres },
  { name: "an open storage", open: openOnStorage },
];

async function openMemory(): Promise<ChatStoreFixture> {
  return { store: createChatStore({ backend: "memory" }), dispose: async () => undefined };
}

function openSqlite(): Promise<ChatStoreFixture> {
  const dir = createTempDir();
  const uri = join(dir.path, "chats.db");
  return openShared(
    () => createChatStore({ backend: "sqlite", uri }),
    async () => dir.remove(),
  );
}

async function openPostgres(): Promise<ChatStoreFixture> {
  const database = await createMigratedDatabase();
  const options = { backend: "postgres", uri: database.url, pool: { min: 0, max: 4 } };
  return openShared(() => createChatStore(options), database.drop);
}

/** One scope of a storage that has others with the same chats. */
async function openOnStorage(): Promise<ChatStoreFixture> {
  const storage = await openStorage("memory");
  const foreign = await storage.getChatStore({ org: "other" });
  const now = new Date().toISOString();
  for (const chat_id of ["c", "b:c"]) {
    await foreign.saveMessage({ user_id: "u", chat_id, role: "user", content: "another scope's" });
    await foreign.save({
      ...{
        session_id: "foreign",
        user_id: "u",
        chat_id,
        working_directory: "/",
        claude_session_id: null,
        mode: "auto",
      },
      ...{ total_cost: 1, message_count: 1, is_active: true, created_at: now, last_used: now },
    });
  }
  return { store: await storage.getChatStore({ org: "mine" }), dispose: () => storage.close() };
}

export async function openShared(
  create: () => ChatSessionStore,
  remove: () => Promise<void>,
): Promise<ChatStoreFixture> {
  const opened: ChatSessionStore[] = [];
  const open = async () => {
    const store = create();
    opened.push(store);
    await store.setup();
    return store;
  };
  const store = await open();
  return {
    store,
    reopen: async () => {
      await store.teardown();
      return open();
    },
    second: open,
    unready: create,
    dispose: async () => {
      await Promise.all(opened.map((each) => each.teardown()));
      await remove();
    },
  };
}
