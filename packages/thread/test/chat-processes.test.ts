import { describe, expect, it } from "vitest";
import { createChatStore, registerChatBackend } from "../src/chat/chat-backends.ts";
import { createMemorySessionStore } from "../src/chat/memory-session-store.ts";
import { raceForOneSession } from "./chat-processes.ts";
import { databases } from "./databases.ts";

describe.each(databases)("chats of several processes on $name", ({ name, create }) => {
  it("200 getOrCreate across two processes are one session", { tags: "long" }, async () => {
    const database = await create();
    const store = createChatStore({ backend: name, uri: database.uri });
    try {
      await store.setup();
      await raceForOneSession(name, database.uri, store);
    } finally {
      await store.teardown();
      await database.remove();
    }
  });
});

describe("chat backends", () => {
  it("an unknown one is an error that names the valid ones", () => {
    const unknown = expect.objectContaining({
      code: "unknown_backend",
      message: expect.stringMatching(/"redis".*memory, sqlite, postgres/),
    });
    expect(() => createChatStore({ backend: "redis" })).toThrow(unknown);
  });

  it("a custom one is known by its name until it is taken out", async () => {
    const seen: unknown[] = [];
    const remove = registerChatBackend("custom", (options) => {
      seen.push(options);
      return createMemorySessionStore();
    });
    const store = createChatStore({ backend: "custom", uri: "custom://x" });
    expect(seen).toEqual([{ uri: "custom://x" }]);
    expect(await store.load("u", "c")).toBeNull();
    const again = () => registerChatBackend("custom", () => createMemorySessionStore());
    expect(again).toThrow(expect.objectContaining({ code: "already_exists" }));
    remove();
    expect(() => createChatStore({ backend: "custom" })).toThrow(/custom/);
  });

  it("a database that can't be opened says so at setup, and the store stays unready", async () => {
    const store = createChatStore({ backend: "sqlite", uri: import.meta.dirname });
    await expect(store.setup()).rejects.toMatchObject({ message: expect.stringContaining(import.meta.dirname) });
    await expect(store.load("u", "c")).rejects.toMatchObject({ code: "not_initialized" });
  });
});
