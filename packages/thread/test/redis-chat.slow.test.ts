import { randomUUID } from "node:crypto";
import { afterAll, describe, it } from "vitest";
import { createRedisSessionStore } from "../../../examples/redis-session-store/redis-session-store.ts";
import { startRedis } from "../../../testing/redis.ts";
import { chatStoreContract } from "../src/conformance/chat-store-contract.ts";
import { sessionManagerContract } from "../src/conformance/session-manager-contract.ts";
import { raceForOneSession } from "./chat-processes.ts";
import { openShared } from "./chat-stores.ts";

const server = await startRedis();
if ("missing" in server) {
  describe("chats on Redis", () => {
    it.skip(`not run: ${server.missing}`);
  });
  process.stderr.write(`The Redis tests are skipped: ${server.missing}\n`);
} else {
  const { url, stop } = server;
  afterAll(stop);
  const open = () => {
    const prefix = `${randomUUID()}:`;
    return openShared(
      () => createRedisSessionStore({ url, prefix }),
      async () => undefined,
    );
  };
  describe("chats on Redis", () => chatStoreContract(open));
  describe("session manager on Redis", () => sessionManagerContract(open));
  it("200 getOrCreate across two processes are one session", async () => {
    const store = createRedisSessionStore({ url });
    await store.setup();
    await raceForOneSession("redis", url, store);
    await store.delete("u", "c");
    await store.teardown();
  });
}
