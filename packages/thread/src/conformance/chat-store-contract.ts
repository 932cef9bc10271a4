import { describe, expect, it } from "vitest";
import { aChat } from "./a-chat.ts";
import { chatLogContract } from "./chat-log-contract.ts";
import { chatUpdateContract } from "./chat-update-contract.ts";
import { LONG_TEXT, ODD_TEXTS } from "./odd-text.ts";
import { type OpenChatStore, withChatStore } from "./open-chat-store-fixture.ts";

/** What a `ChatSessionStore` promises, for any back end. */
export function chatStoreContract(open: OpenChatStore): void {
  const test = (name: string, body: Parameters<typeof withChatStore>[1]) => it(name, withChatStore(open, body));

  describe("save, load and delete", () => {
    test("every field comes back, also after a restart", async ({ store, reopen }) => {
      const chat = aChat({
        ...{ mode: "auto", claude_session_id: "claude-1", total_cost: 12.345678901, message_count: 41 },
        ...{ created_at: "2024-02-29T23:59:59.999Z", last_used: "2024-03-01T00:00:00.001Z" },
      });
      await store.save(chat);
      expect(await store.load("u", "c")).toEqual(chat);
      const after = reopen ? await reopen() : store;
      expect(await after.load("u", "c")).toEqual(chat);
    });

    test("what is absent is null, and deleting it is no error", async ({ store }) => {
      expect(await store.load("u", "c")).toBeNull();
      await store.delete("u", "c");
      expect(await store.load("u", "c")).toBeNull();
    });

    test("saving again changes the session, and another session takes its place", async ({ store }) => {
      await store.save(aChat());
      await store.save(aChat({ mode: "auto", message_count: 2, claude_session_id: "x" }));
      expect(await store.load("u", "c")).toMatchObject({ mode: "auto", message_count: 2, claude_session_id: "x" });
      await store.save(aChat({ session_id: "s2" }));
      expect(await store.load("u", "c")).toEqual(aChat({ session_id: "s2" }));
    });

    test("what has ended stays so, whatever ended it", async ({ store, reopen }) => {
      await store.save(aChat({ session_id: "deleted" }));
      await store.delete("u", "c");
      await store.save(aChat({ session_id: "replaced" }));
      await store.save(aChat({ session_id: "active" }));
      for (const session_id of ["deleted", "replaced"]) {
        await expect(store.save(aChat({ session_id }))).rejects.toMatchObject({ code: "session_inactive" });
      }
      const after = reopen ? await reopen() : store;
      expect(await after.load("u", "c")).toMatchObject({ session_id: "active" });
      await after.save(aChat({ session_id: "active", is_active: false }));
      expect(await after.load("u", "c")).toBeNull();
      await expect(after.create(aChat({ session_id: "active" }))).rejects.toMatchObject({ code: "session_inactive" });
    });

    test("saving an ended session leaves the active one alone", async ({ store }) => {
      await store.save(aChat({ session_id: "active" }));
      await store.save(aChat({ session_id: "old", is_active: false }));
      expect(await store.load("u", "c")).toMatchObject({ session_id: "active" });
    });

    test("what is handed in and out is a copy", async ({ store }) => {
      const chat = aChat();
      await store.save(chat);
      chat.message_count = 99;
      const loaded = await store.load("u", "c");
      Object.assign(loaded ?? {}, { mode: "auto" });
      expect(await store.load("u", "c")).toEqual(aChat());
    });

    test("keys are pairs: where a separator stands makes another chat", async ({ store }) => {
      const keys = [
        ["a:b", "c"],
        ["a", "b:c"],
        ["a", "b"],
        ['a","b', "c"],
        ["a", '","b","c'],
      ] as const;
      for (const [user_id, chat_id] of keys)
        await store.save(aChat({ user_id, chat_id, session_id: user_id + chat_id }));
      for (const [user_id, chat_id] of keys) {
        expect(await store.load(user_id, chat_id)).toMatchObject({ user_id, chat_id, session_id: user_id + chat_id });
      }
      await store.delete("a", "b:c");
      expect(await store.load("a:b", "c")).not.toBeNull();
    });

    test("odd text is kept in every field", async ({ store }) => {
      for (const text of ODD_TEXTS.filter(Boolean)) {
        const chat = aChat({
          user_id: text,
          chat_id: text,
          session_id: text,
          working_directory: text,
          claude_session_id: text,
        });
        await store.save(chat);
        expect(await store.load(text, text)).toEqual(chat);
      }
    });

    test("times are converted to UTC, not relabelled", async ({ store }) => {
      const times = { created_at: "2024-01-01T12:00:00+05:00", last_used: "2023-12-31T23:30:00.5-01:30" };
      await store.save(aChat(times));
      const utc = { created_at: "2024-01-01T07:00:00.000Z", last_used: "2024-01-01T01:00:00.500Z" };
      expect(await store.load("u", "c")).toMatchObject(utc);
    });

    test("what is not a session is refused, and changes nothing", async ({ store }) => {
      const wrong: object[] = [
        { mode: "yolo" },
        { user_id: "" },
        { chat_id: "c".repeat(256) },
        { message_count: -1 },
        { message_count: 1.5 },
        { total_cost: Number.NaN },
        { created_at: "2024-01-01T12:00:00" },
        { last_used: "yesterday" },
        { session_id: "nul \u0000" },
        { working_directory: LONG_TEXT },
      ];
      for (const fields of wrong) {
        await expect(store.save(aChat(fields))).rejects.toMatchObject({ code: "validation_failed" });
        await expect(store.create(aChat(fields))).rejects.toMatchObject({ code: "validation_failed" });
      }
      expect(await store.load("u", "c")).toBeNull();
    });
  });

  describe("setup and teardown", () => {
    test("every call before setup and after teardown is refused", async ({ store, unready }) => {
      if (!unready) return;
      const fresh = unready();
      const refused = { code: "not_initialized", message: expect.stringContaining("not initialized") };
      const calls = (of: typeof store) => [
        () => of.save(aChat()),
        () => of.load("u", "c"),
        () => of.delete("u", "c"),
        () => of.create(aChat()),
        () => of.update(aChat(), {}),
        () => of.expire("2024-01-01T00:00:00Z"),
        () => of.saveMessage({ user_id: "u", chat_id: "c", role: "user", content: "x" }),
        () => of.getMessages("u", "c"),
      ];
      for (const call of calls(fresh)) await expect(call()).rejects.toMatchObject(refused);
      await store.teardown();
      for (const call of calls(store)) await expect(call()).rejects.toMatchObject(refused);
    });

    test("both may be called twice, and a store may be set up again", async ({ store, unready }) => {
      await store.setup();
      await store.save(aChat());
      await store.teardown();
      await store.teardown();
      await store.setup();
      if (unready) expect(await store.load("u", "c")).toEqual(aChat());
    });
  });

  describe("create, update and expire", () => chatUpdateContract(open));
  describe("the log", () => chatLogContract(open));
}
