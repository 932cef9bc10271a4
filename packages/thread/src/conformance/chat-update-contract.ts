import { expect, it } from "vitest";
import { aChat } from "./a-chat.ts";
import { type OpenChatStore, withChatStore } from "./open-chat-store-fixture.ts";

export function chatUpdateContract(open: OpenChatStore): void {
  const test = (name: string, body: Parameters<typeof withChatStore>[1]) => it(name, withChatStore(open, body));
  const many = <T>(count: number, make: (n: number) => T) => Array.from({ length: count }, (_, n) => make(n));

  test("create stores the first, and gives it to those who come later", async ({ store }) => {
    expect(await store.create(aChat())).toEqual(aChat());
    expect(await store.create(aChat({ session_id: "s2" }))).toEqual(aChat());
    await store.delete("u", "c");
    expect(await store.create(aChat({ session_id: "s3" }))).toMatchObject({ session_id: "s3" });
  });

  test("of fifty that create at once, one is stored and all get it", async ({ store, second }) => {
    const other = second ? await second() : store;
    const made = await Promise.all(many(50, (n) => (n % 2 ? store : other).create(aChat({ session_id: `s${n}` }))));
    expect(new Set(made.map(({ session_id }) => session_id)).size).toBe(1);
    expect(await other.load("u", "c")).toEqual(made[0]);
  });

  test("saves of different sessions at once leave one active, and it is one of them", async ({ store, second }) => {
    const other = second ? await second() : store;
    await Promise.all(many(10, (n) => (n % 2 ? store : other).save(aChat({ session_id: `s${n}` }))));
    const active = await store.load("u", "c");
    expect(active?.session_id).toMatch(/^s\d$/);
    const late = many(10, (n) => `s${n}`).filter((id) => id !== active?.session_id);
    for (const session_id of late) expect(await store.update(aChat({ session_id }), { cost: 1 })).toBeNull();
    expect(await other.load("u", "c")).toEqual(active);
  });

  test("changes what is given and nothing else", async ({ store }) => {
    await store.save(aChat({ claude_session_id: "x", message_count: 3, total_cost: 1.5 }));
    expect(await store.update(aChat(), {})).toMatchObject({
      claude_session_id: "x",
      message_count: 3,
      total_cost: 1.5,
    });
    const last_used = "2024-05-01T00:00:00.000Z";
    const changed = await store.update(aChat(), {
      ...{ message_count_delta: 2, cost: 0.25, claude_session_id: "y", mode: "auto", working_directory: "/other" },
      last_used,
    });
    expect(changed).toEqual(
      aChat({
        ...{ message_count: 5, total_cost: 1.75, claude_session_id: "y", mode: "auto", working_directory: "/other" },
        last_used,
      }),
    );
    expect(await store.load("u", "c")).toEqual(changed);
    expect(await store.update(aChat(), { claude_session_id: null })).toMatchObject({ claude_session_id: null });
  });

  test("last_used never moves back, and is converted to UTC", async ({ store }) => {
    await store.save(aChat({ last_used: "2024-06-01T00:00:00.000Z" }));
    await store.update(aChat(), { last_used: "2024-01-01T00:00:00.000Z" });
    expect(await store.load("u", "c")).toMatchObject({ last_used: "2024-06-01T00:00:00.000Z" });
    await store.update(aChat(), { last_used: "2024-06-01T12:00:00+02:00" });
    expect(await store.load("u", "c")).toMatchObject({ last_used: "2024-06-01T10:00:00.000Z" });
  });

  test("concurrent counts add up", async ({ store, second }) => {
    const other = second ? await second() : store;
    await store.save(aChat());
    await Promise.all(many(40, (n) => (n % 2 ? store : other).update(aChat(), { message_count_delta: 1, cost: 0.25 })));
    expect(await store.load("u", "c")).toMatchObject({ message_count: 40, total_cost: 10 });
  });

  test("a late change finds no newer session to overwrite", async ({ store }) => {
    await store.save(aChat());
    await store.save(aChat({ session_id: "s2" }));
    const late = {
      message_count_delta: 1,
      cost: 5,
      claude_session_id: "old",
      messages: [{ role: "user", content: "x" }],
    } as const;
    expect(await store.update(aChat(), late)).toBeNull();
    expect(await store.load("u", "c")).toEqual(aChat({ session_id: "s2" }));
    expect(await store.getMessages("u", "c")).toEqual([]);
    await store.delete("u", "c");
    expect(await store.update(aChat({ session_id: "s2" }), late)).toBeNull();
    expect(await store.load("u", "c")).toBeNull();
    expect(await store.update(aChat({ chat_id: "never" }), late)).toBeNull();
  });

  test("messages of a change are logged with it, under the session's id", async ({ store }) => {
    await store.save(aChat());
    await store.update(aChat(), {
      message_count_delta: 1,
      messages: [
        { role: "user", content: "question" },
        { role: "assistant", content: "answer", cost: 0.5, duration_ms: 1200 },
      ],
    });
    expect(await store.getMessages("u", "c")).toMatchObject([
      { role: "user", content: "question", cost: null, duration_ms: null, session_id: "s1" },
      { role: "assistant", content: "answer", cost: 0.5, duration_ms: 1200, session_id: "s1" },
    ]);
    const wrong = { message_count_delta: 1, messages: [{ role: "system" as "user", content: "x" }] };
    await expect(store.update(aChat(), wrong)).rejects.toMatchObject({ code: "validation_failed" });
    expect(await store.load("u", "c")).toMatchObject({ message_count: 1 });
  });

  test("a wrong change is refused, and changes nothing", async ({ store }) => {
    await store.save(aChat());
    for (const change of [{ cost: -1 }, { cost: Number.NaN }, { message_count_delta: -1 }, { mode: "x" as "plan" }]) {
      await expect(store.update(aChat(), change)).rejects.toMatchObject({ code: "validation_failed" });
    }
    expect(await store.load("u", "c")).toEqual(aChat());
  });

  test("expire ends what was last used before, and counts it", async ({ store, reopen }) => {
    const days = ["2024-01-01", "2024-01-02", "2024-01-03", "2024-01-04"];
    for (const day of days) await store.save(aChat({ chat_id: day, last_used: `${day}T00:00:00.000Z` }));
    await store.delete("u", "2024-01-01");
    expect(await store.expire("2024-01-03T02:00:00+02:00")).toBe(1);
    expect(await store.expire("2024-01-03T00:00:00Z")).toBe(0);
    const after = reopen ? await reopen() : store;
    const left = await Promise.all(days.map((day) => after.load("u", day)));
    expect(left.map((chat) => chat?.chat_id ?? null)).toEqual([null, null, "2024-01-03", "2024-01-04"]);
    expect(await after.update(aChat({ chat_id: "2024-01-02" }), { cost: 1 })).toBeNull();
    await expect(after.expire("someday")).rejects.toMatchObject({ code: "validation_failed" });
  });
}
