import { AIMessage, type BaseMessage, HumanMessage } from "@langchain/core/messages";
import { END, MessagesDeltaValue, START, StateGraph, StateSchema } from "@langchain/langgraph";
import { describe, expect, it } from "vitest";
import type { CheckpointSaver } from "../checkpoint-saver.ts";
import { statesOf } from "./checkpoint-fork-contract.ts";
import { Log, logOf, threadConfig, twoSteps } from "./checkpoint-graph.ts";
import { comparable, elsewhere, listed, type Point, put, read, type Values } from "./checkpoint-line.ts";
import { checkpointSweepContract } from "./checkpoint-sweep-contract.ts";
import type { OpenStorage } from "./open-storage-fixture.ts";
import { withStorage } from "./with-storage.ts";

export function checkpointPruneContract(open: OpenStorage): void {
  const test = (name: string, body: Parameters<typeof withStorage>[1]) => it(name, withStorage(open, body));

  describe("prune", () => {
    test("what it does not understand removes nothing", async ({ storage }) => {
      const saver = await storage.getCheckpointer();
      const points = [await put(saver, "t", { n: 0 })];
      for (const n of [1, 2]) points.push(await put(saver, points.at(-1) as Point, { n }));
      const ids = await listed(saver, threadConfig("t"));
      const wrong: [string, object][] = [
        ["threadId", { threadId: "u" }],
        ["keep", { thread_id: "t", keep: 3 }],
        ["thread_id", { thread_id: undefined }],
        ["thread_id", { thread_id: "" }],
        ["before", { before: new Date("no date") }],
        ["keep_last", { keep_last: -1 }],
        ["keep_last", { keep_last: 1.5 }],
        ["keep_undone", { keep_undone: Number.NaN }],
        ["0", ["u"]],
      ];
      for (const [name, options] of wrong) {
        const refused = { code: "validation_failed", message: expect.stringContaining(name) };
        await expect(saver.prune(options), name).rejects.toMatchObject(refused);
      }
      expect(await listed(saver, threadConfig("t"))).toEqual(ids);
    });

    test("keeps the newest as many as asked, and the graph goes on from there", async ({ storage, second }) => {
      const saver = await storage.getCheckpointer();
      const graph = twoSteps(saver);
      for (const input of ["a", "b", "c"]) await graph.invoke({ log: [input] }, threadConfig("t"));
      const states = [...(await statesOf(saver, "t"))];
      const other = await elsewhere(storage, second);
      expect(await other.prune({ thread_id: "t", keep_last: 3 })).toMatchObject({
        threads: 1,
        checkpoints: states.length - 3,
      });
      expect([...(await statesOf(saver, "t"))]).toStrictEqual(states.slice(-3));
      expect(await other.prune({ thread_id: "t" })).toMatchObject({ threads: 1, checkpoints: 2 });
      expect([...(await statesOf(saver, "t"))]).toStrictEqual(states.slice(-1));
      expect(await other.prune()).toEqual({ threads: 0, checkpoints: 0, pieces: 0 });
      await graph.invoke({ log: ["d"] }, threadConfig("t"));
      expect((await read(other, "t"))?.["log"]).toEqual(logOf("a", "b", "c", "d"));
    });

    test("counts for its session no longer what it has let go of", async ({ storage }) => {
      const { id, thread_id } = await storage.createSession({});
      const saver = await storage.getCheckpointer();
      const bytes = async () => (await storage.getSession(id))?.storage_bytes ?? 0;
      const short = async (n: number) => {
        await put(saver, thread_id, { list: [{ text: `${n} ${"x".repeat(1_000)}` }], step: n });
        return bytes();
      };
      const one = await short(0);
      for (const n of [1, 2, 3, 4, 5, 6, 7, 8, 9]) await short(n);
      const before = await bytes();
      expect(before).toBeGreaterThan(one * 9);
      await saver.prune({ thread_id, keep_undone: 0 });
      const after = await bytes();
      expect(after).toBeGreaterThan(0);
      expect(after).toBeLessThan(one * 2);
      await saver.prune({ thread_id, keep_undone: 0 });
      expect(await bytes()).toBe(after);
    });

    test("keeps the tip of every branch and what each needs, and relinks parents", async ({ storage, second }) => {
      const saver = await storage.getCheckpointer();
      const root = await put(saver, "t", { list: [{ n: 0 }], kept: { text: "kept ".repeat(100) } });
      const left = await put(saver, root, { list: [{ n: 0 }, { n: 1 }] }, { changed: ["list"] });
      const leftTip = await put(saver, left, { list: [{ n: 0 }, { n: 1 }, { n: 2 }] }, { changed: ["list"] });
      const right = await put(saver, root, { list: [{ n: 3 }] }, { changed: ["list"] });
      const rightTip = await put(saver, right, { list: [{ n: 3 }, { n: 4 }] }, { changed: ["list"] });
      const before = [await read(saver, leftTip), await read(saver, rightTip)];
      const other = await elsewhere(storage, second);
      expect(await other.prune({ thread_id: "t" })).toMatchObject({ checkpoints: 3 });
      expect(await listed(other, threadConfig("t"))).toEqual([rightTip.checkpoint.id, leftTip.checkpoint.id]);
      expect([await read(other, leftTip), await read(other, rightTip)]).toStrictEqual(before);
      await expectParentsExist(other, "t");
    });

    test("keeps the ends of the youngest undone branches, as many as asked", async ({ storage, second }) => {
      const saver = await storage.getCheckpointer();
      const root = await put(saver, "t", { n: 0 });
      const tips: string[] = [];
      for (const n of [1, 2, 3, 4]) {
        const middle = await put(saver, root, { n });
        tips.push((await put(saver, middle, { n: n * 10 })).checkpoint.id);
      }
      const other = await elsewhere(storage, second);
      const [, , third, head] = tips;
      expect(await other.prune({ thread_id: "t", keep_undone: 1 })).toMatchObject({ checkpoints: 7 });
      expect(await listed(other, threadConfig("t"))).toEqual([head, third]);
      expect(await read(saver, "t")).toEqual({ n: 40 });
      expect(await other.prune({ thread_id: "t", keep_undone: 0 })).toMatchObject({ checkpoints: 1 });
      expect(await listed(other, threadConfig("t"))).toEqual([head]);
      expect(await read(other, "t")).toEqual({ n: 40 });
    });

    test("keeps the end of an undone branch that waits for an answer, however few are asked for", async ({
      storage,
    }) => {
      const saver = await storage.getCheckpointer();
      const root = await put(saver, "t", { n: 0 });
      const middle = await put(saver, root, { n: 1 });
      const waiting = await put(saver, middle, { n: 2 });
      await saver.putWrites(waiting.config, [["__interrupt__", [{ id: "i", value: "go on?" }]]], "task");
      const head = await put(saver, root, { n: 3 });
      expect(await saver.prune({ thread_id: "t", keep_undone: 0 })).toMatchObject({ checkpoints: 2 });
      expect(await listed(saver, threadConfig("t"))).toEqual([head.checkpoint.id, waiting.checkpoint.id]);
      expect((await saver.getTuple(waiting.config))?.pendingWrites).toMatchObject([
        ["task", "__interrupt__", [{ id: "i" }]],
      ]);
    });

    test("of all threads passes over short ones, and ends between two of them when told", async ({ storage }) => {
      const saver = await storage.getCheckpointer();
      for (const [thread_id, length] of [["short", 2] as const, ["long", 4] as const])
        await line(saver, thread_id, length);
      const signal = AbortSignal.abort();
      expect(await saver.prune({ keep_last: 2, signal })).toEqual({ threads: 0, checkpoints: 0, pieces: 0 });
      expect(await saver.prune({ keep_last: 2 })).toMatchObject({ threads: 1, checkpoints: 2 });
      expect(await listed(saver, threadConfig("short"))).toHaveLength(2);
    });

    test("keeps where the thread stands, though that was put again and is no longer the youngest", async ({
      storage,
    }) => {
      const saver = await storage.getCheckpointer();
      const first = await put(saver, "t", { n: 0 });
      const second = await put(saver, first, { n: 1 });
      const { checkpoint } = first;
      await saver.put(
        threadConfig("t"),
        checkpoint,
        { source: "update", step: 0, parents: {} },
        checkpoint.channel_versions,
      );
      expect(await read(saver, "t")).toEqual({ n: 0 });
      expect(await saver.prune({ thread_id: "t" })).toMatchObject({ checkpoints: 0 });
      expect(await listed(saver, threadConfig("t"))).toEqual([second.checkpoint.id, checkpoint.id]);
      const next = await put(saver, first, { n: 2 });
      expect(await read(saver, "t")).toEqual({ n: 2 });
      expect(await read(saver, next)).toEqual({ n: 2 });
    });

    test("keeps where a session was forked, and what is younger than asked", async ({ storage }) => {
      const saver = await storage.getCheckpointer();
      const { id: session_id, thread_id } = await storage.createSession({});
      const [one, two, three] = await line(saver, thread_id, 3);
      await storage.createSession({ parent: { session_id, checkpoint_id: one as string } });
      await saver.prune({ thread_id, before: new Date(0) });
      expect(await listed(saver, threadConfig(thread_id))).toEqual([three, two, one]);
      await saver.prune({ thread_id });
      expect(await listed(saver, threadConfig(thread_id))).toEqual([three, one]);
      await expectParentsExist(saver, thread_id);
    });

    test("keeps what is of the very time that was named", async ({ storage }) => {
      const saver = await storage.getCheckpointer();
      const points = [await put(saver, "t", { n: 0 })];
      for (const n of [1, 2]) points.push(await put(saver, points.at(-1) as Point, { n }));
      const [, middle] = points as [Point, Point, Point];
      await saver.prune({ thread_id: "t", before: new Date(middle.checkpoint.ts) });
      expect(await listed(saver, threadConfig("t"))).toContain(middle.checkpoint.id);
    });

    test("keeps what a subgraph has done, though it was stored before what it is part of", async ({
      storage,
      second,
    }) => {
      const saver = await storage.getCheckpointer();
      const atExit = { ...threadConfig("t"), durability: "exit" as const };
      const steps: string[] = [];
      await failing(saver, steps, false).invoke({ log: ["first"] }, atExit);
      await expect(failing(saver, steps, true).invoke({ log: ["then"] }, atExit)).rejects.toThrow("not yet");
      await saver.prune({ thread_id: "t", keep_last: 1 });
      await failing(await elsewhere(storage, second), steps, false).invoke(null, atExit);
      expect(steps).toEqual(["prepared", "worked", "prepared", "worked", "worked"]);
    });

    test("without a thread goes through all of them; one that isn't there is no error", async ({ storage }) => {
      const saver = await storage.getCheckpointer();
      for (const thread_id of ["one", "two", "gone"]) await line(saver, thread_id, 3);
      await saver.deleteThread("gone");
      expect(await saver.prune({ thread_id: "none" })).toEqual({ threads: 0, checkpoints: 0, pieces: 0 });
      expect(await saver.prune({ thread_id: "gone" })).toEqual({ threads: 0, checkpoints: 0, pieces: 0 });
      expect(await saver.prune()).toMatchObject({ threads: 2, checkpoints: 4 });
      for (const thread_id of ["one", "two"]) expect(await read(saver, thread_id)).toMatchObject({ n: 2 });
    });

    test("keeps the ancestors that hold the writes of a delta channel", async ({ storage, second }) => {
      const saver = await storage.getCheckpointer();
      const other = await elsewhere(storage, second);
      for (let n = 0; n < 3; n++) await deltas(saver).invoke(question(n), threadConfig("t"));
      const before = await contents(saver);
      expect(before).toHaveLength(6);
      await other.prune({ thread_id: "t" });
      expect(await contents(other)).toEqual(before);
      await saver.copyThread("t", "copy", { checkpoint_id: (await listed(other, threadConfig("t")))[0] as string });
      expect(await contents(other, "copy")).toEqual(before);
      await deltas(saver).invoke(question(3), threadConfig("t"));
      await other.prune({ thread_id: "t" });
      expect(await contents(other)).toEqual([...before, "3", "answer to 3"]);
    });
  });

  checkpointSweepContract(open);
}

/** As many checkpoints, one after the other; their ids, oldest first. */
async function line(saver: CheckpointSaver, thread_id: string, length: number): Promise<string[]> {
  const ids: string[] = [];
  let after: Parameters<typeof put>[1] = thread_id;
  for (let n = 0; n < length; n++) {
    after = await put(saver, after, { n, text: `text ${n} `.repeat(50) } satisfies Values);
    ids.push(after.checkpoint.id);
  }
  return ids;
}

async function expectParentsExist(saver: CheckpointSaver, thread_id: string): Promise<void> {
  const ids = new Set(await listed(saver, threadConfig(thread_id)));
  for await (const { parentConfig } of saver.list(threadConfig(thread_id))) {
    const parent = parentConfig?.configurable?.["checkpoint_id"];
    if (parent !== undefined) expect(ids).toContain(parent);
  }
}

function deltas(checkpointer: CheckpointSaver) {
  return new StateGraph(new StateSchema({ messages: MessagesDeltaValue }))
    .addNode("answer", ({ messages }) => {
      const { id, content } = messages.at(-1) as BaseMessage;
      return { messages: [new AIMessage({ id: `${id} answer`, content: `answer to ${content}` })] };
    })
    .addEdge(START, "answer")
    .addEdge("answer", END)
    .compile({ checkpointer });
}

/** A subgraph of two steps, of which the second may fail. */
function failing(checkpointer: CheckpointSaver, steps: string[], fails: boolean) {
  const inner = new StateGraph(Log)
    .addNode("prepare", () => {
      steps.push("prepared");
      return {};
    })
    .addNode("work", () => {
      steps.push("worked");
      if (fails) throw new Error("not yet");
      return {};
    })
    .addEdge(START, "prepare")
    .addEdge("prepare", "work")
    .compile();
  return new StateGraph(Log).addNode("inner", inner).addEdge(START, "inner").compile({ checkpointer });
}

function question(n: number) {
  return { messages: [new HumanMessage({ id: `${n}`, content: `${n}` })] };
}

async function contents(saver: CheckpointSaver, thread_id = "t"): Promise<unknown[]> {
  const { values } = await deltas(saver).getState(threadConfig(thread_id));
  return (comparable(values["messages"]) as { content: string }[]).map(({ content }) => content);
}
