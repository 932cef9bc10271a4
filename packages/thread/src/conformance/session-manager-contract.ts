import { describe, expect, it } from "vitest";
import type { ChatSessionStore } from "../chat/chat-session-store.ts";
import { createSessionManager, type SessionManagerOptions } from "../chat/session-manager.ts";
import { type OpenChatStore, withChatStore } from "./open-chat-store-fixture.ts";

/** What `createSessionManager` promises on any chat store. */
export function sessionManagerContract(open: OpenChatStore): void {
  const test = (name: string, body: Parameters<typeof withChatStore>[1]) => it(name, withChatStore(open, body));

  /** A manager whose clock stands still until it is moved. */
  function manage(store: ChatSessionStore, options: SessionManagerOptions = {}) {
    let ms = Date.parse("2024-01-01T00:00:00Z");
    const manager = createSessionManager({ store, clock: () => new Date(ms), ...options });
    const pass = (hours: number) => {
      ms += hours * 3_600_000;
    };
    return { manager, pass };
  }

  describe("getOrCreate", () => {
    test("a new session is stored when it is handed out", async ({ store, reopen }) => {
      const { manager } = manage(store);
      const session = await manager.getOrCreate("u", "c", "/project");
      expect(session).toMatchObject({ user_id: "u", chat_id: "c", working_directory: "/project", mode: "plan" });
      expect(session).toMatchObject({ total_cost: 0, message_count: 0, is_active: true, claude_session_id: null });
      expect(session.last_used).toBe(session.created_at);
      const after = reopen ? await reopen() : store;
      expect(await after.load("u", "c")).toEqual(session);
    });

    test("gives the cached one, else the stored one with its mode, whatever the directory", async ({ store }) => {
      const first = manage(store).manager;
      const session = await first.getOrCreate("u", "c", "/project", { mode: "auto" });
      expect(await first.getOrCreate("u", "c", "/other")).toEqual(session);
      const restarted = manage(store).manager;
      expect(restarted.get("u", "c")).toBeNull();
      expect(await restarted.getOrCreate("u", "c", "/other", { mode: "plan" })).toEqual(session);
      expect(restarted.get("u", "c")).toEqual(session);
    });

    test("the default mode is configured", async ({ store }) => {
      const { manager } = manage(store, { default_mode: "auto" });
      expect(await manager.getOrCreate("u", "c", "/p")).toMatchObject({ mode: "auto" });
    });

    test("two hundred at once from two managers are one session", async ({ store, second }) => {
      const [here, there] = [manage(store).manager, manage(second ? await second() : store).manager];
      const ask = (n: number) => (n % 2 ? here : there).getOrCreate("u", "c", "/project");
      const sessions = await Promise.all(Array.from({ length: 200 }, (_, n) => ask(n)));
      expect(new Set(sessions.map(({ session_id }) => session_id)).size).toBe(1);
      expect(await store.load("u", "c")).toMatchObject({ session_id: sessions[0]?.session_id });
    });

    test("pairs whose joined text is equal are two sessions", async ({ store }) => {
      const { manager } = manage(store);
      const [a, b] = [await manager.getOrCreate("a:b", "c", "/p"), await manager.getOrCreate("a", "b:c", "/p")];
      expect(a.session_id).not.toBe(b.session_id);
      expect(manager.get("a:b", "c")).toEqual(a);
    });

    test("sees what another process did once the cache is no longer believed", async ({ store, second }) => {
      const { manager, pass } = manage(store, { cache_ms: 60_000 });
      const other = manage(second ? await second() : store).manager;
      const session = await manager.getOrCreate("u", "c", "/project");
      const fresh = await other.reset("u", "c");
      expect(await manager.getOrCreate("u", "c", "/project")).toEqual(session);
      pass(1 / 60);
      expect(await manager.getOrCreate("u", "c", "/project")).toMatchObject({ session_id: fresh?.session_id });
    });

    test("a session in use is known to be in use, also by the store", async ({ store }) => {
      const { manager, pass } = manage(store);
      await manager.getOrCreate("u", "c", "/project");
      pass(2);
      expect(await manager.getOrCreate("u", "c", "/p")).toMatchObject({ last_used: "2024-01-01T02:00:00.000Z" });
      expect(await store.load("u", "c")).toMatchObject({ last_used: "2024-01-01T02:00:00.000Z" });
    });
  });

  describe("updateFromResult", () => {
    test("counts, adds the cost, and stores it with the log", async ({ store, reopen }) => {
      const { manager, pass } = manage(store);
      const session = await manager.getOrCreate("u", "c", "/project");
      pass(1);
      const messages = [{ role: "assistant", content: "hi" }] as const;
      await manager.updateFromResult(session, { claude_session_id: "claude-1", cost: 0.5, messages });
      const updated = await manager.updateFromResult(session, { cost: 0.25 });
      expect(updated).toMatchObject({ message_count: 2, total_cost: 0.75, claude_session_id: "claude-1" });
      expect(updated).toMatchObject({ last_used: "2024-01-01T01:00:00.000Z" });
      expect(manager.get("u", "c")).toEqual(updated);
      const after = reopen ? await reopen() : store;
      expect(await after.load("u", "c")).toEqual(updated);
      expect(await after.getMessages("u", "c")).toMatchObject([{ content: "hi", session_id: session.session_id }]);
    });

    test("nothing said of claude_session_id keeps it; clearing it is a call of its own", async ({ store }) => {
      const { manager } = manage(store);
      const session = await manager.getOrCreate("u", "c", "/project");
      await manager.updateFromResult(session, { claude_session_id: "x" });
      for (const claude_session_id of [null, "", undefined]) {
        const kept = await manager.updateFromResult(
          session,
          claude_session_id === undefined ? {} : { claude_session_id },
        );
        expect(kept).toMatchObject({ claude_session_id: "x" });
      }
      expect(await manager.update(session, { claude_session_id: null })).toMatchObject({ claude_session_id: null });
      expect(await store.load("u", "c")).toMatchObject({ claude_session_id: null, message_count: 4 });
    });

    test("a refused result leaves cache and store as they were", async ({ store }) => {
      const { manager } = manage(store);
      const session = await manager.getOrCreate("u", "c", "/project");
      await expect(manager.updateFromResult(session, { cost: -1 })).rejects.toMatchObject({
        code: "validation_failed",
      });
      expect(manager.get("u", "c")).toEqual(session);
      expect(await store.load("u", "c")).toEqual(session);
    });

    test("a late result after a clear changes nothing of the new session", async ({ store, second }) => {
      const [here, there] = [manage(store).manager, manage(second ? await second() : store).manager];
      const old = await here.getOrCreate("u", "c", "/project");
      const fresh = await there.reset("u", "c");
      const late = { claude_session_id: "old", cost: 9 };
      expect(await here.updateFromResult(old, late)).toBeNull();
      expect(await there.updateFromResult(old, late)).toBeNull();
      expect(await store.load("u", "c")).toEqual(fresh);
      expect(there.get("u", "c")).toEqual(fresh);
      expect(await here.getOrCreate("u", "c", "/project")).toEqual(fresh);
    });

    test("results and clears at once: every count is in the session it belongs to", async ({ store, second }) => {
      const [here, there] = [manage(store).manager, manage(second ? await second() : store).manager];
      const session = await here.getOrCreate("u", "c", "/project");
      const results = Array.from({ length: 20 }, () => here.updateFromResult(session, { cost: 1 }));
      const [fresh] = await Promise.all([there.reset("u", "c"), ...results]);
      expect(await store.load("u", "c")).toEqual(fresh);
    });

    test("the mode is kept over restarts", async ({ store, reopen }) => {
      const { manager } = manage(store);
      const session = await manager.getOrCreate("u", "c", "/project");
      expect(await manager.update(session, { mode: "auto" })).toMatchObject({ mode: "auto" });
      const after = manage(reopen ? await reopen() : store).manager;
      expect(await after.getOrCreate("u", "c", "/project")).toMatchObject({ mode: "auto" });
    });
  });

  describe("deactivate, reset and cleanupExpired", () => {
    test("after deactivate there is none, and then a new one", async ({ store }) => {
      const { manager } = manage(store);
      const session = await manager.getOrCreate("u", "c", "/project");
      await manager.deactivate("u", "c");
      expect(manager.get("u", "c")).toBeNull();
      expect(await store.load("u", "c")).toBeNull();
      const next = await manager.getOrCreate("u", "c", "/project");
      expect(next.session_id).not.toBe(session.session_id);
      await manager.deactivate("nobody", "c");
    });

    test("deactivate and getOrCreate at once leave cache and store of one mind", async ({ store }) => {
      const { manager } = manage(store);
      await manager.getOrCreate("u", "c", "/project");
      const restarted = manage(store).manager;
      await Promise.all([restarted.getOrCreate("u", "c", "/project"), restarted.deactivate("u", "c")]);
      expect(restarted.get("u", "c")).toEqual(await store.load("u", "c"));
    });

    test("reset starts afresh in the same directory, also for a chat that is not cached", async ({ store }) => {
      const { manager } = manage(store);
      const session = await manager.getOrCreate("u", "c", "/project", { mode: "auto" });
      await manager.updateFromResult(session, { claude_session_id: "x", cost: 1 });
      const fresh = await manage(store).manager.reset("u", "c");
      expect(fresh).toMatchObject({ working_directory: "/project", claude_session_id: null, mode: "plan" });
      expect(fresh).toMatchObject({ message_count: 0, total_cost: 0, is_active: true });
      expect(fresh?.session_id).not.toBe(session.session_id);
      expect(await store.load("u", "c")).toEqual(fresh);
      expect(await manager.reset("nobody", "c")).toBeNull();
    });

    test("expired sessions are gone from cache and store, and don't come back", async ({ store }) => {
      const { manager, pass } = manage(store);
      const old = await manager.getOrCreate("u", "old", "/project");
      await manager.updateFromResult(old, { claude_session_id: "x" });
      const used = await manager.getOrCreate("u", "used", "/project");
      pass(23);
      await manager.getOrCreate("u", "used", "/project");
      pass(2);
      expect(await manager.cleanupExpired(24)).toBe(1);
      expect(await manager.cleanupExpired()).toBe(0);
      expect(manager.get("u", "old")).toBeNull();
      const next = await manager.getOrCreate("u", "old", "/project");
      expect(next).toMatchObject({ claude_session_id: null, message_count: 0 });
      expect(next.session_id).not.toBe(old.session_id);
      expect(await manager.getOrCreate("u", "used", "/project")).toMatchObject({ session_id: used.session_id });
      await expect(manager.cleanupExpired(-1)).rejects.toMatchObject({ code: "validation_failed" });
    });

    test("a use that the store was not told of yet counts", async ({ store }) => {
      const { manager, pass } = manage(store);
      const session = await manager.getOrCreate("u", "c", "/project");
      pass(30 / 3600);
      await manager.getOrCreate("u", "c", "/project");
      pass(20 / 3600);
      expect(await manager.cleanupExpired(40 / 3600)).toBe(0);
      expect(await store.load("u", "c")).toMatchObject({ session_id: session.session_id });
    });
  });
}
