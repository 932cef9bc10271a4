import { ChatMessage } from "@cognition/contract";
import { expect, it } from "vitest";
import type { ChatSessionStore } from "../chat/chat-session-store.ts";
import { aChat } from "./a-chat.ts";
import { LONG_TEXT, ODD_TEXTS } from "./odd-text.ts";
import { type OpenChatStore, withChatStore } from "./open-chat-store-fixture.ts";

export function chatLogContract(open: OpenChatStore): void {
  const test = (name: string, body: Parameters<typeof withChatStore>[1]) => it(name, withChatStore(open, body));
  const key = { user_id: "u", chat_id: "c" };

  async function log(store: ChatSessionStore, count: number): Promise<void> {
    for (let n = 0; n < count; n++) await store.saveMessage({ ...key, role: "user", content: `${n}` });
  }
  async function contents(store: ChatSessionStore, query?: Parameters<ChatSessionStore["getMessages"]>[2]) {
    return (await store.getMessages("u", "c", query)).map(({ content }) => content);
  }

  test("a message comes back as it was given, and what was left out is null", async ({ store, reopen }) => {
    const given = { ...key, role: "assistant", content: "hi", cost: 0.125, duration_ms: 250, session_id: "s" } as const;
    const full = await store.saveMessage({ ...given, created_at: "2024-01-01T12:00:00+05:00" });
    expect(ChatMessage.parse(full)).toEqual({ ...given, id: full.id, created_at: "2024-01-01T07:00:00.000Z" });
    const bare = await store.saveMessage({ ...key, role: "user", content: "" });
    expect(bare).toMatchObject({ content: "", cost: null, duration_ms: null, session_id: null });
    expect(bare.id).toBeGreaterThan(full.id);
    const after = reopen ? await reopen() : store;
    expect(await after.getMessages("u", "c")).toEqual([full, bare]);
  });

  test("ordered by time, then by arrival", async ({ store }) => {
    const times = ["2024-01-02T00:00:00Z", "2024-01-01T00:00:00Z", "2024-01-02T00:00:00Z", "2024-01-01T01:00:00+01:00"];
    for (const [n, created_at] of times.entries())
      await store.saveMessage({ ...key, role: "user", content: `${n}`, created_at });
    expect(await contents(store)).toEqual(["1", "3", "0", "2"]);
    expect(await contents(store, { order: "desc", limit: 3 })).toEqual(["2", "0", "3"]);
  });

  test("pages by limit and offset, fifty unless told", async ({ store }) => {
    await log(store, 53);
    expect(await contents(store)).toHaveLength(50);
    expect(await contents(store, { limit: 3, offset: 2 })).toEqual(["2", "3", "4"]);
    expect(await contents(store, { limit: 5, offset: 51 })).toEqual(["51", "52"]);
    expect(await contents(store, { offset: 53 })).toEqual([]);
    expect(await contents(store, { limit: 0 })).toEqual([]);
    for (const page of [{ limit: -1 }, { offset: 0.5 }]) {
      await expect(store.getMessages("u", "c", page)).rejects.toMatchObject({ code: "validation_failed" });
    }
  });

  test("an order that there is not is refused, and named", async ({ store }) => {
    await log(store, 2);
    for (const order of ["up", "DESC", "", null, 1]) {
      const refused = store.getMessages("u", "c", { order: order as never });
      await expect(refused).rejects.toMatchObject({
        code: "validation_failed",
        message: expect.stringContaining("order"),
      });
    }
  });

  test("chats don't see each other's, and need no session", async ({ store }) => {
    await store.saveMessage({ user_id: "a:b", chat_id: "c", role: "user", content: "x" });
    await store.saveMessage({ user_id: "a", chat_id: "b:c", role: "user", content: "y" });
    expect(await store.getMessages("a:b", "c")).toMatchObject([{ content: "x" }]);
    expect(await store.getMessages("a", "b:c")).toMatchObject([{ content: "y" }]);
    expect(await store.getMessages("a", "b")).toEqual([]);
  });

  test("stays when its session ends, and can be asked for by session", async ({ store }) => {
    await store.save(aChat());
    await store.saveMessage({ ...key, role: "user", content: "old", session_id: "s1" });
    await store.save(aChat({ session_id: "s2" }));
    await store.saveMessage({ ...key, role: "user", content: "new", session_id: "s2" });
    await store.delete("u", "c");
    expect(await contents(store)).toEqual(["old", "new"]);
    expect(await contents(store, { session_id: "s1" })).toEqual(["old"]);
  });

  test("odd and long text comes back as it went in", async ({ store }) => {
    const texts = [...ODD_TEXTS, LONG_TEXT, "nul \u0000 inside"];
    for (const content of texts) await store.saveMessage({ ...key, role: "user", content });
    expect(await contents(store)).toEqual(texts);
  });

  test("fifty at once are fifty, each with an id of its own", async ({ store, second }) => {
    const other = second ? await second() : store;
    const write = (n: number) => (n % 2 ? store : other).saveMessage({ ...key, role: "user", content: `${n}` });
    const written = await Promise.all(Array.from({ length: 50 }, (_, n) => write(n)));
    expect(new Set(written.map(({ id }) => id)).size).toBe(50);
    expect(await contents(store)).toHaveLength(50);
  });

  test("what is not a message is refused", async ({ store }) => {
    const wrong = [
      { role: "system" as "user" },
      { content: 5 as never },
      { cost: -1 },
      { duration_ms: 0.5 },
      { user_id: "" },
    ];
    for (const fields of wrong) {
      const message = { ...key, role: "user", content: "x", ...fields } as const;
      await expect(store.saveMessage(message)).rejects.toMatchObject({ code: "validation_failed" });
    }
    expect(await store.getMessages("u", "c")).toEqual([]);
  });
}
