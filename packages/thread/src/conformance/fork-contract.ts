import { describe, expect, it } from "vitest";
import type { NewSession } from "../session-store.ts";
import type { OpenStorage } from "./open-storage-fixture.ts";
import { answering, expectRows, human, rowIds } from "./projected-conversation.ts";
import { conversation, headOf, rewind } from "./timeline-contract.ts";
import { withStorage } from "./with-storage.ts";

const turn = (id: string) => [id, `${id} call`, `${id} result`];

export function forkContract(open: OpenStorage): void {
  const test = (name: string, body: Parameters<typeof withStorage>[1]) => it(name, withStorage(open, body));

  describe("forking", () => {
    test("gives a session that stands there; both live on independently", async ({ storage }) => {
      const { session_id, heads, ask } = await conversation(storage, ["a", "b"], { user: "ann" });
      const fork = await storage.timeline.forkSession({ session_id, checkpoint_id: heads[0] ?? "", files: true });
      expect(fork).toMatchObject({
        parent: { session_id, checkpoint_id: heads[0] },
        message_count: 3,
        status: "active",
      });
      expect(fork.scopes).toEqual({ user: "ann" });
      await ask("c");
      await expectRows(storage, fork.id, turn("a"));
      const graph = answering(await storage.getCheckpointer());
      await graph.invoke({ messages: [human("f")] }, { configurable: { thread_id: fork.thread_id } });
      await expectRows(storage, fork.id, ["a", "f"].flatMap(turn));
      await expectRows(storage, session_id, ["a", "b", "c"].flatMap(turn));
      const [mine] = await storage.listMessagesForSession(session_id);
      expect((await storage.listMessagesForSession(fork.id))[0]).toMatchObject({ created_at: mine?.created_at });
    });

    test("without a place begins at the head, and of a fork again", async ({ storage }) => {
      const { session_id, heads } = await conversation(storage, ["a", "b"]);
      const first = await storage.timeline.forkSession({
        session_id,
        files: true,
        title: "one",
        agent_name: "readonly",
      });
      expect(first).toMatchObject({ title: "one", agent_name: "readonly", parent: { checkpoint_id: heads[1] } });
      const second = await storage.timeline.forkSession({ session_id: first.id, files: true });
      const graph = answering(await storage.getCheckpointer());
      await graph.invoke({ messages: [human("x")] }, { configurable: { thread_id: second.thread_id } });
      await expectRows(storage, second.id, ["a", "b", "x"].flatMap(turn));
      await expectRows(storage, first.id, ["a", "b"].flatMap(turn));
    });

    test("has the id that was given, which makes no second one", async ({ storage }) => {
      const { session_id } = await conversation(storage, ["a"]);
      const id = crypto.randomUUID();
      const fork = await storage.timeline.forkSession({ session_id, files: true, id });
      expect(fork.id).toBe(id);
      const again = storage.timeline.forkSession({ session_id, files: true, id });
      await expect(again).rejects.toMatchObject({ code: "already_exists" });
      expect(await storage.countSessions()).toBe(2);
      await expectRows(storage, id, turn("a"));
    });

    test("what is not fit for a new session is not fit for a fork either, and makes none", async ({ storage }) => {
      const { session_id } = await conversation(storage, ["a"]);
      const wrong: Partial<NewSession>[] = [
        ...["", "x".repeat(256), "a\0b", "\ud800", 7 as never, null as never].map((id) => ({ id })),
        ...["x".repeat(501), "a\0b", "\ud800", 7 as never].map((title) => ({ title })),
        ...["", "x".repeat(65), "a\0b", "\ud800", null as never].map((agent_name) => ({ agent_name })),
      ];
      for (const one of wrong) {
        const refused = { code: "validation_failed" };
        await expect(storage.createSession(one), JSON.stringify(one)).rejects.toMatchObject(refused);
        const fork = storage.timeline.forkSession({ session_id, files: true, ...one });
        await expect(fork, JSON.stringify(one)).rejects.toMatchObject(refused);
      }
      expect(await storage.countSessions()).toBe(1);
    });

    test("of many with one id at once, one is made, and the others are told that it is taken", async ({ storage }) => {
      const { session_id } = await conversation(storage, ["a"]);
      const id = crypto.randomUUID();
      const forks = Array.from({ length: 4 }, () => storage.timeline.forkSession({ session_id, files: true, id }));
      const outcomes = await Promise.allSettled(forks);
      const codes = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason.code] : []));
      expect(codes).toEqual(["already_exists", "already_exists", "already_exists"]);
      await expectRows(storage, id, turn("a"));
    });

    test("survives its parent, with the times that only the parent's rows knew", async ({ storage }) => {
      const { session_id, heads } = await conversation(storage, ["a", "b"]);
      const times = (await storage.listMessagesForSession(session_id)).map(({ created_at }) => created_at);
      const fork = await storage.timeline.forkSession({ session_id, checkpoint_id: heads[1] ?? "", files: true });
      await storage.deleteSession(session_id);
      const rows = await storage.listMessagesForSession(fork.id);
      expect(rows.map(({ id }) => id)).toEqual(["a", "b"].flatMap(turn));
      expect(rows.map(({ created_at }) => created_at)).toEqual(times);
      await expectRows(storage, fork.id, ["a", "b"].flatMap(turn));
      const graph = answering(await storage.getCheckpointer());
      await graph.invoke({ messages: [human("x")] }, { configurable: { thread_id: fork.thread_id } });
      await expectRows(storage, fork.id, ["a", "b", "x"].flatMap(turn));
    });

    test("of a fork that nobody has read has the times of the first one's rows, also where it is written to first", async ({
      storage,
    }) => {
      const { session_id } = await conversation(storage, ["a", "b"]);
      const timesOf = async (id: string) =>
        (await storage.listMessagesForSession(id)).map(({ id, created_at }) => [id, created_at]);
      const times = await timesOf(session_id);
      const first = await storage.timeline.forkSession({ session_id, files: true });
      const second = await storage.timeline.forkSession({ session_id: first.id, files: true });
      await storage.createMessage({ id: "next", session_id: second.id, role: "user", content: "next" });
      expect((await timesOf(second.id)).slice(0, -1)).toEqual(times);
      expect(await timesOf(first.id)).toEqual(times);
    });

    test("does not take over what was pending: its tools run anew", async ({ storage }) => {
      const { session_id } = await conversation(storage, ["a"]);
      const all = await storage.timeline.readTimeline(session_id, { limit: 100 });
      const before = all.find(({ next }) => next.includes("tools"))?.checkpoint_id ?? "";
      const fork = await storage.timeline.forkSession({ session_id, checkpoint_id: before, files: true });
      const graph = answering(await storage.getCheckpointer());
      const config = { configurable: { thread_id: fork.thread_id } };
      expect((await graph.getState(config)).next).toEqual(["tools"]);
      expect(await rowIds(storage, fork.id)).toEqual(["a", "a call"]);
      await graph.invoke(null, config);
      await expectRows(storage, fork.id, turn("a"));
    });

    test("can be rewound before anybody has read it", async ({ storage }) => {
      const { session_id } = await conversation(storage, ["a"]);
      const fork = await storage.timeline.forkSession({ session_id, files: true });
      await rewind(storage, fork.id, await headOf(storage, fork.id));
      expect(await storage.getSession(fork.id)).toMatchObject({ message_count: 3 });
      await expectRows(storage, fork.id, turn("a"));
    });

    test("is refused for a checkpoint that is not there, and for a session without one", async ({ storage }) => {
      const { session_id } = await conversation(storage, ["a"]);
      const NOT_FOUND = { code: "checkpoint_not_found" };
      const missing = storage.timeline.forkSession({ session_id, checkpoint_id: "nothing", files: true });
      await expect(missing).rejects.toMatchObject(NOT_FOUND);
      const { id } = await storage.createSession({});
      await expect(storage.timeline.forkSession({ session_id: id, files: true })).rejects.toMatchObject(NOT_FOUND);
      const foreign = await conversation(storage, ["z"]);
      const other = { session_id, checkpoint_id: foreign.heads[0] ?? "", files: true };
      await expect(storage.timeline.forkSession(other)).rejects.toMatchObject(NOT_FOUND);
    });
  });
}
