import type { Content } from "@cognition/contract";
import { describe, expect, it } from "vitest";
import type { SessionFilter } from "../session-store.ts";
import type { Storage } from "../storage.ts";
import { put } from "./checkpoint-line.ts";
import type { OpenStorage } from "./open-storage-fixture.ts";
import { withStorage } from "./with-storage.ts";

const text = (words: string) => ({ type: "text", text: words });
const NO_WORDS: readonly Content[] = [
  "",
  [],
  [text("")],
  [{ type: "tool_use", id: "1" }],
  [{ type: "reasoning", summary: [text("hidden")] }],
  [{ type: "odd", text: 5 }],
];
const WORDS: readonly Content[] = [
  "plain",
  [text("in a block")],
  [text(""), text("\u0000")],
  [text("half \ud83d \\user \\")],
  "\u0000",
  '"',
  "[]",
];

async function speak(storage: Storage, session_id: string, contents: readonly Content[]): Promise<void> {
  for (const content of contents) await storage.createMessage({ session_id, role: "assistant", content });
}

export function spokenMessageContract(open: OpenStorage): void {
  const test = (name: string, body: Parameters<typeof withStorage>[1]) => it(name, withStorage(open, body));

  describe("listSpokenMessages", () => {
    test("what has words and was said by a user or an assistant, and nothing else", async ({ storage }) => {
      const { id: session_id } = await storage.createSession({ metadata: { chat: "a" } });
      await storage.createMessage({ session_id, role: "tool", content: "a tool", tool_call_id: "1" });
      await storage.createMessage({ session_id, role: "system", content: "a rule" });
      await speak(storage, session_id, NO_WORDS);
      await speak(storage, session_id, WORDS);
      await storage.createMessage({ session_id, role: "user", content: "asked" });
      const { messages, total } = await storage.listSpokenMessages({ metadata_filters: { chat: "a" } });
      expect(messages.map(({ content }) => content)).toEqual([...WORDS, "asked"]);
      expect(total).toBe(WORDS.length + 1);
    });

    test("over all sessions that match, the oldest first, in pages of one whole", async ({ storage }) => {
      const filter = { metadata_filters: { chat: "a" }, scope: { user: "ann" } };
      const make = async (chat: string, scopes: Record<string, string>, words: string[]) => {
        const { id } = await storage.createSession({ metadata: { chat }, scopes });
        await speak(storage, id, words);
        return id;
      };
      const first = await make("a", { user: "ann" }, ["1", "2"]);
      await make("b", { user: "ann" }, ["another chat"]);
      await make("a", { user: "bob" }, ["another user"]);
      const second = await make("a", { user: "ann" }, ["4"]);
      await speak(storage, first, ["3"]);
      const whole = await storage.listSpokenMessages(filter);
      expect(whole.messages.map(({ content }) => content)).toEqual(["1", "2", "3", "4"]);
      expect(whole.messages.map(({ session_id }) => session_id)).toEqual([first, first, first, second]);
      for (let offset = 0; offset <= 4; offset++) {
        const page = await storage.listSpokenMessages(filter, { limit: 2, offset });
        expect(page).toEqual({ messages: whole.messages.slice(offset, offset + 2), total: 4 });
      }
      expect(await storage.listSpokenMessages({ scope: { user: "eve" } })).toEqual({ messages: [], total: 0 });
    });

    test("only of sessions that match in every way that is asked for", async ({ storage }) => {
      const make = async (scopes: Record<string, string>, words: string) => {
        const { id } = await storage.createSession({ scopes });
        await speak(storage, id, [words]);
        return id;
      };
      const ended = await make({ user: "ann", team: "x" }, "ended");
      await storage.updateSession(ended, { status: "inactive" });
      await make({ user: "ann", team: "x" }, "going on");
      await make({ user: "bob", team: "x" }, "of another");
      const said = async (filter: SessionFilter) =>
        (await storage.listSpokenMessages(filter)).messages.map(({ content }) => content);
      expect(await said({ filter_scopes: { user: "ann" } })).toEqual(["ended", "going on"]);
      expect(await said({ status: "inactive" })).toEqual(["ended"]);
      expect(await said({ filter_scopes: { team: "x" }, status: "active" })).toEqual(["going on", "of another"]);
    });

    test("once, however often a session was forked", async ({ storage }) => {
      const { id, thread_id } = await storage.createSession({ metadata: { chat: "a" } });
      await speak(storage, id, ["said"]);
      await put(await storage.getCheckpointer(), thread_id, {});
      const fork = await storage.timeline.forkSession({ session_id: id, files: false });
      await speak(storage, fork.id, ["in the fork"]);
      const { messages, total } = await storage.listSpokenMessages({ metadata_filters: { chat: "a" } });
      expect([messages.map(({ content }) => content), total]).toEqual([["said"], 1]);
    });
  });
}
