import { AIMessage, RemoveMessage } from "@langchain/core/messages";
import { Annotation, DeltaValue, END, MessagesDeltaValue, START, StateGraph, StateSchema } from "@langchain/langgraph";
import { describe, expect, it } from "vitest";
import type { CheckpointSaver } from "../checkpoint-saver.ts";
import type { Storage } from "../storage.ts";
import type { OpenStorage } from "./open-storage-fixture.ts";
import { answering, expectRows, human } from "./projected-conversation.ts";
import { conversation, headOf, rewind } from "./timeline-contract.ts";
import { withStorage } from "./with-storage.ts";

const turn = (id: string) => [id, `${id} call`, `${id} result`];
const NOT_FOUND = { code: "checkpoint_not_found" };

async function forkOf(storage: Storage, session_id: string, checkpoint_id?: string) {
  const fork = await storage.timeline.forkSession({
    ...{ session_id, files: true },
    ...(checkpoint_id !== undefined && { checkpoint_id }),
  });
  const graph = answering(await storage.getCheckpointer());
  const config = { configurable: { thread_id: fork.thread_id } };
  return { ...fork, ask: (id: string) => graph.invoke({ messages: [human(id)] }, config) };
}

/** What came before a fork is its own past too. */
export function forkHistoryContract(open: OpenStorage): void {
  const test = (name: string, body: Parameters<typeof withStorage>[1]) => it(name, withStorage(open, body));

  describe("what a fork comes from", () => {
    test("can be gone back to, and forth again, and the other session stays as it is", async ({ storage, second }) => {
      const { session_id, heads, ask } = await conversation(storage, ["a", "b", "c"]);
      const fork = await forkOf(storage, session_id, heads[1]);
      await fork.ask("f");
      const [first = ""] = heads;
      const { previous_head } = await rewind(second ? await second() : storage, fork.id, first);
      await expectRows(storage, fork.id, turn("a"));
      await fork.ask("g");
      await expectRows(storage, fork.id, ["a", "g"].flatMap(turn));
      await rewind(storage, fork.id, previous_head);
      await expectRows(storage, fork.id, ["a", "b", "f"].flatMap(turn));
      await ask("d");
      await expectRows(storage, session_id, ["a", "b", "c", "d"].flatMap(turn));
    });

    test("also before anybody has read the fork", async ({ storage }) => {
      const { session_id, heads } = await conversation(storage, ["a", "b"]);
      const fork = await forkOf(storage, session_id);
      await rewind(storage, fork.id, heads[0] ?? "");
      await expectRows(storage, fork.id, turn("a"));
    });

    test("is read, with the way from there to the fork", async ({ storage }) => {
      const { session_id, heads } = await conversation(storage, ["a", "b"]);
      const fork = await forkOf(storage, session_id);
      const [first = "", last = ""] = heads;
      const [entry] = await storage.timeline.readTimeline(fork.id, { checkpoint_ids: [first] });
      expect(entry).toMatchObject({ checkpoint_id: first, message_count: 3, is_head: false });
      expect((await storage.timeline.messagesAt(fork.id, first)).map(({ id }) => id)).toEqual(turn("a"));
      const all = await storage.timeline.readTimeline(fork.id, { limit: 100 });
      const [own, ...there] = await storage.timeline.readTimeline(session_id, { limit: 5 });
      expect(all).toEqual([own, ...there]);
      expect([all.length, await headOf(storage, fork.id)]).toEqual([5, last]);
      await expectRows(storage, fork.id, ["a", "b"].flatMap(turn));
    });

    test("counts for the fork from then on, and no longer when it is pruned", async ({ storage }) => {
      const { session_id, heads } = await conversation(storage, ["a", "b", "c"]);
      const fork = await forkOf(storage, session_id);
      await fork.ask("d");
      const bytes = async () => (await storage.getSession(fork.id))?.storage_bytes ?? 0;
      const [own, had] = [await bytes(), await storage.timeline.readTimeline(fork.id)];
      await storage.timeline.readTimeline(fork.id, { checkpoint_ids: [heads[0] ?? ""] });
      expect(await bytes()).toBeGreaterThan(own);
      const saver = await storage.getCheckpointer();
      expect((await saver.prune({ thread_id: fork.thread_id, keep_last: had.length })).checkpoints).toBe(8);
      expect(await bytes()).toBe(own);
    });

    test("through several forks, and branched off again", async ({ storage }) => {
      const { session_id, heads } = await conversation(storage, ["a", "b"]);
      const first = await forkOf(storage, session_id);
      await first.ask("c");
      const second = await forkOf(storage, first.id);
      await second.ask("d");
      await rewind(storage, second.id, heads[0] ?? "");
      await expectRows(storage, second.id, turn("a"));
      const third = await forkOf(storage, second.id, heads[1]);
      await third.ask("e");
      await expectRows(storage, third.id, ["a", "b", "e"].flatMap(turn));
      await expectRows(storage, first.id, ["a", "b", "c"].flatMap(turn));
      expect(await storage.timeline.readTimeline(first.id, { limit: 100 })).toHaveLength(5);
    });

    test("is only what led to it: neither another branch nor what came after", async ({ storage }) => {
      const { session_id, heads, ask } = await conversation(storage, ["a", "b"]);
      await rewind(storage, session_id, heads[0] ?? "");
      await ask("x");
      const fork = await forkOf(storage, session_id);
      await ask("y");
      const [, other = "", , after = ""] = heads;
      for (const checkpoint_id of [other, after]) {
        await expect(rewind(storage, fork.id, checkpoint_id)).rejects.toMatchObject(NOT_FOUND);
        expect(await storage.timeline.readTimeline(fork.id, { checkpoint_ids: [checkpoint_id] })).toEqual([]);
      }
      await rewind(storage, fork.id, heads[0] ?? "");
      await expectRows(storage, fork.id, turn("a"));
    });

    test("of a fork that had gone back is only what led to that one", async ({ storage }) => {
      const { session_id, heads } = await conversation(storage, ["a", "b", "c"]);
      const [first = "", second = "", undone = ""] = heads;
      const gone = await forkOf(storage, session_id);
      await rewind(storage, gone.id, second);
      await gone.ask("x");
      const fork = await forkOf(storage, gone.id);
      await expect(rewind(storage, fork.id, undone)).rejects.toMatchObject(NOT_FOUND);
      await rewind(storage, fork.id, first);
      await expectRows(storage, fork.id, turn("a"));
      const all = await storage.timeline.readTimeline(fork.id, { limit: 100 });
      expect(all.map(({ checkpoint_id }) => checkpoint_id)).not.toContain(undone);
      await rewind(storage, fork.id, second);
      await expectRows(storage, fork.id, ["a", "b"].flatMap(turn));
    });

    test("is the fork's own once it was gone back to, whatever becomes of the other session", async ({ storage }) => {
      const { session_id, session, heads } = await conversation(storage, ["a", "b", "c"]);
      const fork = await forkOf(storage, session_id);
      await rewind(storage, fork.id, heads[1] ?? "");
      const saver = await storage.getCheckpointer();
      await saver.prune({ thread_id: session.thread_id });
      await storage.deleteSession(session_id);
      await expect(rewind(storage, fork.id, heads[0] ?? "")).rejects.toMatchObject(NOT_FOUND);
      await rewind(storage, fork.id, heads[2] ?? "");
      await expectRows(storage, fork.id, ["a", "b", "c"].flatMap(turn));
      await rewind(storage, fork.id, heads[1] ?? "");
      await fork.ask("x");
      await expectRows(storage, fork.id, ["a", "b", "x"].flatMap(turn));
    });

    test("has messages that had left the state by then, with their times", async ({ storage }) => {
      const { session_id, graph, config, heads } = await conversation(storage, ["a", "b"]);
      const times = (await storage.listMessagesForSession(session_id)).map(({ created_at }) => created_at);
      const messages = turn("a").map((id) => new RemoveMessage({ id }));
      await graph.updateState(config, { messages }, "tools");
      const fork = await forkOf(storage, session_id);
      await rewind(storage, fork.id, heads[1] ?? "");
      await expectRows(storage, fork.id, ["a", "b"].flatMap(turn));
      const rows = await storage.listMessagesForSession(fork.id);
      expect(rows.map(({ created_at }) => created_at)).toEqual(times);
    });

    test("has those that came in between and had left too, with what only their rows know", async ({ storage }) => {
      const { session_id, graph, config, heads, ask } = await conversation(storage, ["a"]);
      await storage.createMessage({ session_id, id: "b", role: "user", content: "b", metadata: { by: "Ann" } });
      await ask("b");
      const before = await storage.listMessagesForSession(session_id);
      const messages = ["a", "b"].flatMap(turn).map((id) => new RemoveMessage({ id }));
      await graph.updateState(config, { messages }, "tools");
      await ask("c");
      const fork = await forkOf(storage, session_id);
      await rewind(storage, fork.id, heads[0] ?? "");
      await expectRows(storage, fork.id, turn("a"));
      await rewind(storage, fork.id, heads[1] ?? "");
      await expectRows(storage, fork.id, ["a", "b"].flatMap(turn));
      const rows = await storage.listMessagesForSession(fork.id);
      expect(rows).toEqual(before.map((row) => ({ ...row, session_id: fork.id })));
    });

    test("has the values of delta channels, which are in the writes of what came before", async ({ storage }) => {
      const graph = deltas(await storage.getCheckpointer());
      const { id: session_id, thread_id } = await storage.createSession({});
      const asked = ["a", "b", "c", "d", "e"];
      const heads: string[] = [];
      for (const id of asked) {
        await graph.invoke({ messages: [human(id)] }, { configurable: { thread_id } });
        heads.push(await headOf(storage, session_id));
      }
      for (const began of heads) {
        for (const [i, head] of heads.slice(0, heads.indexOf(began)).entries()) {
          const fork = await forkOf(storage, session_id, began);
          await rewind(storage, fork.id, head);
          const config = { configurable: { thread_id: fork.thread_id } };
          const { messages } = await graph.invoke({ messages: [human("x")] }, config);
          const ids = [...asked.slice(0, i + 1), "x"].flatMap((id) => [id, `${id} answer`]);
          expect(messages.map(({ id }) => id)).toEqual(ids);
        }
      }
    });

    test("does not bring back what was pending where the fork began", async ({ storage }) => {
      const { session_id, heads } = await conversation(storage, ["a", "b"]);
      const all = await storage.timeline.readTimeline(session_id, { limit: 100 });
      const began = all.find(({ next }) => next.includes("tools"))?.checkpoint_id ?? "";
      const fork = await forkOf(storage, session_id, began);
      expect(await storage.timeline.readTimeline(fork.id, { checkpoint_ids: [heads[0] ?? ""] })).toHaveLength(1);
      const saver = await storage.getCheckpointer();
      const { thread_id } = fork;
      const tuple = await saver.getTuple({ configurable: { thread_id, checkpoint_ns: "", checkpoint_id: began } });
      expect(tuple?.pendingWrites).toEqual([]);
    });

    test("has the state of subgraphs that keep it, as it was", async ({ storage }) => {
      const graph = counting(await storage.getCheckpointer());
      const session = await storage.createSession({});
      const count = async (thread_id: string) =>
        (await graph.invoke({ seen: -1 }, { configurable: { thread_id } })).seen;
      const heads: string[] = [];
      for (let n = 1; n <= 3; n++) {
        expect(await count(session.thread_id)).toBe(n);
        heads.push(await headOf(storage, session.id));
      }
      const fork = await forkOf(storage, session.id);
      expect(await count(fork.thread_id)).toBe(4);
      for (const [i, head] of heads.entries()) {
        await rewind(storage, fork.id, head);
        expect(await count(fork.thread_id), `after the ${i + 1}. of them`).toBe(i + 2);
      }
    });

    test("has not what those did in the other session after the fork began", async ({ storage }) => {
      const session = await storage.createSession({});
      const forks: Awaited<ReturnType<typeof forkOf>>[] = [];
      const graph = counting(await storage.getCheckpointer(), async () => {
        forks.push(await forkOf(storage, session.id));
      });
      const count = async (thread_id: string) =>
        (await graph.invoke({ seen: -1 }, { configurable: { thread_id }, durability: "sync" })).seen;
      expect([await count(session.thread_id), await count(session.thread_id)]).toEqual([1, 2]);
      const [fork] = forks.splice(1);
      const [first] = (await storage.timeline.readTimeline(session.id)).slice(-1);
      const { id, thread_id } = fork as NonNullable<typeof fork>;
      const named = { checkpoint_ids: [first?.checkpoint_id ?? ""] };
      expect(await storage.timeline.readTimeline(id, named)).toHaveLength(1);
      expect(await count(thread_id)).toBe(2);
    });
  });
}

/** Every few of its checkpoints have all messages; the others only what is new, in their writes. */
function deltas(checkpointer: CheckpointSaver) {
  const { valueSchema, inputSchema, reducer } = MessagesDeltaValue;
  const messages = new DeltaValue(valueSchema, { inputSchema, reducer, snapshotFrequency: 4 });
  return new StateGraph(new StateSchema({ messages }))
    .addNode("answer", (state) => ({
      messages: [new AIMessage({ id: `${state.messages.at(-1)?.id} answer`, content: "" })],
    }))
    .addEdge(START, "answer")
    .addEdge("answer", END)
    .compile({ checkpointer });
}

/** Its subgraph counts how often it was called. */
export function counting(checkpointer: CheckpointSaver, meanwhile = async () => {}) {
  const Count = Annotation.Root({
    calls: Annotation<number>({ reducer: (before, more) => before + more, default: () => 0 }),
    seen: Annotation<number>(),
  });
  const inner = new StateGraph(Count)
    .addNode("count", async () => {
      await meanwhile();
      return { calls: 1 };
    })
    .addNode("tell", ({ calls }) => ({ seen: calls }))
    .addEdge(START, "count")
    .addEdge("count", "tell")
    .addEdge("tell", END)
    .compile({ checkpointer: true });
  const Outer = Annotation.Root({ seen: Annotation<number>() });
  return new StateGraph(Outer)
    .addNode("inner", inner)
    .addEdge(START, "inner")
    .addEdge("inner", END)
    .compile({ checkpointer });
}
