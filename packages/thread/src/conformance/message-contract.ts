import type { Message } from "@cognition/contract";
import { describe, expect, it } from "vitest";
import type { NewMessage } from "../message-store.ts";
import type { Storage } from "../storage.ts";
import { LONG_TEXT, ODD_TEXTS } from "./odd-text.ts";
import type { OpenStorage } from "./open-storage-fixture.ts";
import { spokenMessageContract } from "./spoken-message-contract.ts";
import { withStorage } from "./with-storage.ts";

export function messageContract(open: OpenStorage): void {
  const test = (name: string, body: Parameters<typeof withStorage>[1]) => it(name, withStorage(open, body));

  describe("createMessage", () => {
    test("fills in what is left out, appends and counts", async ({ storage }) => {
      const { id: session_id } = await storage.createSession({});
      const message = await storage.createMessage({ session_id, role: "user", content: "hi" });
      expect(message).toMatchObject({ session_id, role: "user", content: "hi", tool_calls: [], metadata: {} });
      expect(message).toMatchObject({ tool_call_id: null, token_count: null, model_used: null, parent_id: null });
      expect(message).toMatchObject({ run_id: null, checkpoint_id: null });
      expect(await storage.getMessage(message.id)).toEqual(message);
      expect(await storage.getSession(session_id)).toMatchObject({ message_count: 1, updated_at: message.created_at });
    });

    test("keeps every field", async ({ storage }) => {
      const { id: session_id } = await storage.createSession({});
      const parent = await storage.createMessage({ session_id, role: "user", content: "" });
      const message: Message = {
        id: "m-2",
        session_id,
        role: "assistant",
        content: [
          { type: "text", text: "hello" },
          { type: "image_url", image_url: { url: "data:," } },
        ],
        tool_calls: [{ id: "call_1", name: "search", args: { q: "x", deep: [1, { a: null }] } }],
        tool_call_id: "call_0",
        token_count: 12,
        model_used: "some/model",
        parent_id: parent.id,
        metadata: { nested: { list: [1, 2.5, "x", true, null] } },
        run_id: "r",
        checkpoint_id: "c",
        created_at: "2024-02-29T23:59:59.999Z",
      };
      expect(await storage.createMessage(message)).toEqual(message);
      expect(await storage.getMessage("m-2")).toEqual(message);
    });

    test("odd text, U+0000, unpaired surrogates and a megabyte come back as they went in", async ({
      storage,
      reopen,
    }) => {
      const { id: session_id } = await storage.createSession({});
      const texts = [...ODD_TEXTS, LONG_TEXT, "nul \u0000 inside", "half \ud83d of a pair"];
      for (const text of texts) {
        const metadata = { text, [text.slice(0, 100)]: 1 };
        await storage.createMessage({ session_id, role: "tool", content: text, metadata });
      }
      const after = reopen ? await reopen() : storage;
      const stored = await after.listMessagesForSession(session_id);
      expect(stored.map(({ content }) => content)).toEqual(texts);
      expect(stored.map(({ metadata }) => metadata["text"])).toEqual(texts);
    });

    test("the same id again gives the first, and counts once", async ({ storage, second }) => {
      const other = second ? await second() : storage;
      const { id: session_id } = await storage.createSession({});
      const ask = (n: number) =>
        (n % 2 ? storage : other).createMessage({ session_id, id: "same", role: "user", content: `${n}` });
      const answers = await Promise.all(Array.from({ length: 6 }, (_, n) => ask(n)));
      expect(new Set(answers.map(({ content }) => content)).size).toBe(1);
      expect(await storage.listMessagesForSession(session_id)).toEqual([answers[0]]);
      expect(await storage.getSession(session_id)).toMatchObject({ message_count: 1 });
    });

    test("the same id in two sessions is two messages", async ({ storage }) => {
      const [a, b] = [await storage.createSession({}), await storage.createSession({})];
      for (const { id } of [a, b]) await storage.createMessage({ session_id: id, id: "m", role: "user", content: id });
      expect(await storage.getMessage("m", { session_id: b.id })).toMatchObject({ content: b.id });
      expect(await storage.getMessage("m")).toMatchObject({ content: a.id });
    });

    test("fifty at once on one session are fifty rows, in one order for all, and a count of fifty", async ({
      storage,
      second,
    }) => {
      const other = second ? await second() : storage;
      const { id: session_id } = await storage.createSession({});
      const write = (n: number) =>
        (n % 2 ? storage : other).createMessage({ session_id, role: "user", content: `${n}` });
      await Promise.all(Array.from({ length: 50 }, (_, n) => write(n)));
      const stored = await storage.listMessagesForSession(session_id);
      expect(new Set(stored.map(({ content }) => content)).size).toBe(50);
      expect(await other.listMessagesForSession(session_id)).toEqual(stored);
      expect(await storage.getSession(session_id)).toMatchObject({ message_count: 50 });
    });

    test("an unknown session or parent is named, and nothing is counted", async ({ storage }) => {
      const [a, b] = [await storage.createSession({}), await storage.createSession({})];
      const foreign = await storage.createMessage({ session_id: b.id, role: "user", content: "elsewhere" });
      const message = { session_id: a.id, role: "user", content: "x", parent_id: foreign.id } as const;
      await expect(storage.createMessage(message)).rejects.toMatchObject({ code: "message_not_found" });
      await expect(storage.createMessage({ ...message, session_id: "unknown" })).rejects.toMatchObject({
        code: "session_not_found",
      });
      expect(await storage.getSession(a.id)).toMatchObject({ message_count: 0 });
    });

    test("refuses a bad value by name, and stores nothing", async ({ storage }) => {
      const { id: session_id } = await storage.createSession({});
      for (const [code, field, message] of unacceptable(session_id)) {
        const error = await storage.createMessage(message).catch((reason) => reason);
        expect(error).toMatchObject({ code, message: expect.stringContaining(field) });
      }
      expect(await storage.listMessagesForSession(session_id)).toEqual([]);
      expect(await storage.getSession(session_id)).toMatchObject({ message_count: 0 });
    });
  });

  describe("getMessagesBySession", () => {
    test("pages newest first by default, oldest first on request, each with the whole count", async ({ storage }) => {
      const session_id = await conversation(storage, 7);
      const contents = async (page: Parameters<Storage["getMessagesBySession"]>[1]) => {
        const { messages, total } = await storage.getMessagesBySession(session_id, page);
        expect(total).toBe(7);
        return messages.map(({ content }) => Number(content));
      };
      expect(await contents({})).toEqual([6, 5, 4, 3, 2, 1, 0]);
      expect(await contents({ limit: 3 })).toEqual([6, 5, 4]);
      expect(await contents({ limit: 3, offset: 6 })).toEqual([0]);
      expect(await contents({ limit: 3, offset: 7 })).toEqual([]);
      expect(await contents({ limit: 2, offset: 2, order: "asc" })).toEqual([2, 3]);
    });

    test("an order that there is not is refused, and named", async ({ storage }) => {
      const session_id = await conversation(storage, 2);
      for (const order of ["up", "DESC", "", null, 1]) {
        const refused = storage.getMessagesBySession(session_id, { order: order as never });
        await expect(refused).rejects.toMatchObject({
          code: "validation_failed",
          message: expect.stringContaining("order"),
        });
      }
    });

    test("goes on past a message, in either order, while others come; not past one that is not there", async ({
      storage,
    }) => {
      const session_id = await conversation(storage, 5);
      const page = async (bounds: Parameters<Storage["getMessagesBySession"]>[1]) =>
        (await storage.getMessagesBySession(session_id, bounds)).messages;
      const [, second] = await page({ limit: 2 });
      await storage.createMessage({ session_id, role: "user", content: "5" });
      const contents = async (bounds: Parameters<typeof page>[0]) =>
        (await page({ past: second?.id ?? "", ...bounds })).map(({ content }) => Number(content));
      expect(await contents({ limit: 2 })).toEqual([2, 1]);
      expect(await contents({ order: "asc" })).toEqual([4, 5]);
      const [newest] = await page({ limit: 1 });
      expect(await contents({ order: "asc", past: newest?.id ?? "" })).toEqual([]);
      const elsewhere = await storage.getMessagesBySession(await conversation(storage, 1));
      for (const past of ["unknown", elsewhere.messages[0]?.id ?? "", "a\0b"]) {
        await expect(page({ past })).rejects.toMatchObject({ code: "message_not_found" });
      }
    });

    test("without a limit a page has fifty", async ({ storage }) => {
      const session_id = await conversation(storage, 51);
      const { messages, total } = await storage.getMessagesBySession(session_id);
      expect(messages).toHaveLength(50);
      expect(total).toBe(51);
    });

    test("keeps the order of arrival, whatever the times say", async ({ storage }) => {
      const { id: session_id } = await storage.createSession({});
      const times = ["2024-01-03T00:00:00.000Z", "2024-01-01T00:00:00.000Z", "2024-01-02T00:00:00.000Z"];
      for (const created_at of times)
        await storage.createMessage({ session_id, role: "user", content: "", created_at });
      expect((await storage.listMessagesForSession(session_id)).map(({ created_at }) => created_at)).toEqual(times);
    });

    test("filters by role, and another scope or an unknown session has none", async ({ storage }) => {
      const { id: session_id } = await storage.createSession({ scopes: { user: "ann" } });
      const user = await storage.createMessage({ session_id, role: "user", content: "q" });
      await storage.createMessage({ session_id, role: "assistant", content: "a" });
      const none = { messages: [], total: 0 };
      expect(await storage.getMessagesBySession(session_id, { role: "user" })).toEqual({ messages: [user], total: 1 });
      expect(await storage.getMessagesBySession(session_id, { scope: { user: "ann" } })).toMatchObject({ total: 2 });
      expect(await storage.getMessagesBySession(session_id, { scope: { user: "bob" } })).toEqual(none);
      expect(await storage.getMessagesBySession(session_id, { scope: {} })).toEqual(none);
      expect(await storage.getMessagesBySession("unknown")).toEqual(none);
      expect(await storage.getMessage(user.id, { scope: { user: "bob" } })).toBeNull();
      expect(await storage.getMessage(user.id, { session_id: "unknown" })).toBeNull();
      expect(await storage.getMessage("unknown")).toBeNull();
    });
  });

  spokenMessageContract(open);

  describe("deleteMessagesForSession", () => {
    test("says how many went, sets the count to zero and leaves others alone", async ({ storage }) => {
      const session_id = await conversation(storage, 3);
      const other = await conversation(storage, 2);
      expect(await storage.deleteMessagesForSession(session_id)).toBe(3);
      expect(await storage.deleteMessagesForSession(session_id)).toBe(0);
      expect(await storage.deleteMessagesForSession("unknown")).toBe(0);
      expect(await storage.getSession(session_id)).toMatchObject({ message_count: 0 });
      expect(await storage.listMessagesForSession(other)).toHaveLength(2);
    });

    test("what is written meanwhile is counted exactly if it is kept", async ({ storage, second }) => {
      const other = second ? await second() : storage;
      const session_id = await conversation(storage, 5);
      const writes = Array.from({ length: 10 }, (_, n) =>
        storage.createMessage({ session_id, role: "user", content: `new ${n}` }),
      );
      await Promise.all([...writes, other.deleteMessagesForSession(session_id)]);
      const kept = await storage.listMessagesForSession(session_id);
      expect(await storage.getSession(session_id)).toMatchObject({ message_count: kept.length });
    });
  });
}

async function conversation(storage: Storage, length: number): Promise<string> {
  const { id: session_id } = await storage.createSession({});
  for (let n = 0; n < length; n++) await storage.createMessage({ session_id, role: "user", content: `${n}` });
  return session_id;
}

function unacceptable(session_id: string): [string, string, NewMessage][] {
  const message = { session_id, role: "user", content: "x" } as const;
  const deep: Record<string, unknown> = {};
  let level = deep;
  for (let n = 0; n < 200; n++) {
    const next = {};
    level["a"] = next;
    level = next;
  }
  return [
    ["validation_failed", "role", { ...message, role: "robot" as "user" }],
    ["validation_failed", "content", { ...message, content: 5 as unknown as string }],
    ["validation_failed", "id", { ...message, id: "i".repeat(256) }],
    ["validation_failed", "token_count", { ...message, token_count: -1 }],
    ["validation_failed", "metadata", { ...message, metadata: deep }],
    ["validation_failed", "created_at", { ...message, created_at: "yesterday" }],
    ["unserializable_value", "metadata", { ...message, metadata: { n: 1n } }],
  ];
}
