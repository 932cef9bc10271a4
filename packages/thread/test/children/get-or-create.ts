import { createChatStore, registerChatBackend } from "../../src/chat/chat-backends.ts";
import { createSessionManager } from "../../src/chat/session-manager.ts";
import { input, say, waitForGo } from "./parent.ts";

/** One of several processes that ask for the same chat at the same time. */
const { backend, uri, calls } = input<{ backend: string; uri: string; calls: number }>();
if (backend === "redis") {
  const { createRedisSessionStore } = await import("../../../../examples/redis-session-store/redis-session-store.ts");
  registerChatBackend("redis", (options) => createRedisSessionStore({ url: options.uri ?? "" }));
}
const store = createChatStore({ backend, uri });
await store.setup();
const manager = createSessionManager({ store });
await waitForGo();
const sessions = await Promise.all(Array.from({ length: calls }, () => manager.getOrCreate("u", "c", "/project")));
say([...new Set(sessions.map(({ session_id }) => session_id))]);
process.exit();
