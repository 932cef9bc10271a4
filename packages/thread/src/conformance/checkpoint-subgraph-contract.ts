import { Annotation, Command, DeltaChannel, END, interrupt, START, StateGraph } from "@langchain/langgraph";
import { type BaseCheckpointSaver, emptyCheckpoint } from "@langchain/langgraph-checkpoint";
import { describe, expect, it } from "vitest";
import type { CheckpointSaver } from "../checkpoint-saver.ts";
import { Log, threadConfig } from "./checkpoint-graph.ts";
import { elsewhere, listed } from "./checkpoint-line.ts";
import { counting as countingOuter } from "./fork-history-contract.ts";
import type { OpenStorage, StorageFixture } from "./open-storage-fixture.ts";
import { withStorage } from "./with-storage.ts";

type Between = (
  fixture: StorageFixture,
  saver: CheckpointSaver,
) => Promise<{ saver: CheckpointSaver; thread_id: string }>;

/** What may happen to a thread while it waits for an answer. */
const MEANWHILE: [string, Between][] = [
  ["at once", async (_, saver) => ({ saver, thread_id: "t" })],
  [
    "after a restart",
    async ({ storage, reopen }) => ({ saver: await ((await reopen?.()) ?? storage).getCheckpointer(), thread_id: "t" }),
  ],
  [
    "elsewhere, after a prune",
    async ({ storage, second }, saver) => {
      await saver.prune({ keep_last: 1 });
      return { saver: await elsewhere(storage, second), thread_id: "t" };
    },
  ],
  [
    "in a copy of the thread",
    async ({ storage, second }, saver) => {
      await saver.copyThread("t", "copy");
      await saver.deleteThread("t");
      return { saver: await elsewhere(storage, second), thread_id: "copy" };
    },
  ],
  [
    "in a copy from the checkpoint",
    async ({ storage, second }, saver) => {
      const [head] = await listed(saver, threadConfig("t", { checkpoint_ns: "" }));
      await saver.copyThread("t", "copy", { checkpoint_id: head as string });
      await saver.deleteThread("t");
      return { saver: await elsewhere(storage, second), thread_id: "copy" };
    },
  ],
];

export function checkpointSubgraphContract(open: OpenStorage): void {
  listBeforeContract(open);
  keptStateContract(open);
  describe.each(MEANWHILE)("an interrupt that is answered %s", (_, meanwhile) => {
    const test = (name: string, body: (fixture: StorageFixture) => Promise<void>) => it(name, withStorage(open, body));

    test("in a node", async (fixture) => {
      const saver = await fixture.storage.getCheckpointer();
      await asking(saver).invoke({ log: ["before"] }, threadConfig("t"));
      const { saver: next, thread_id } = await meanwhile(fixture, saver);
      const result = await asking(next).invoke(new Command({ resume: "yes" }), threadConfig(thread_id));
      expect(result.log).toEqual(["before", "prepared", "answer yes"]);
    });

    test("in a subgraph, whose earlier steps are not repeated", async (fixture) => {
      const saver = await fixture.storage.getCheckpointer();
      const steps: string[] = [];
      await outer(saver, asking(undefined, steps)).invoke({ log: ["before"] }, threadConfig("t"));
      const { saver: next, thread_id } = await meanwhile(fixture, saver);
      const graph = outer(next, asking(undefined, steps));
      expect((await graph.getState(threadConfig(thread_id))).tasks[0]?.interrupts).toMatchObject([{ value: "go on?" }]);
      const result = await graph.invoke(new Command({ resume: "yes" }), threadConfig(thread_id));
      expect(result.log).toEqual(["before", "before", "prepared", "answer yes"]);
      expect(steps).toEqual(["prepared", "asked", "asked"]);
    });

    test("in a subgraph that was stored before what it is part of, as with durability exit", async (fixture) => {
      const saver = await fixture.storage.getCheckpointer();
      const steps: string[] = [];
      const atExit = (thread_id: string) => ({ ...threadConfig(thread_id), durability: "exit" as const });
      const graph = (on: CheckpointSaver) => outer(on, asking(undefined, steps));
      await graph(saver).invoke({ log: ["first"] }, atExit("t"));
      await graph(saver).invoke(new Command({ resume: "no" }), atExit("t"));
      await graph(saver).invoke({ log: ["then"] }, atExit("t"));
      const { saver: next, thread_id } = await meanwhile(fixture, saver);
      const result = await graph(next).invoke(new Command({ resume: "yes" }), atExit(thread_id));
      expect(result.log.at(-1)).toBe("answer yes");
      expect(steps).toEqual(["prepared", "asked", "asked", "prepared", "asked", "asked"]);
    });

    test("in a subgraph of a subgraph", async (fixture) => {
      const saver = await fixture.storage.getCheckpointer();
      const nested = () => outer(undefined, asking());
      await outer(saver, nested()).invoke({ log: ["before"] }, threadConfig("t"));
      const { saver: next, thread_id } = await meanwhile(fixture, saver);
      const result = await outer(next, nested()).invoke(new Command({ resume: "yes" }), threadConfig(thread_id));
      expect(result.log.at(-1)).toBe("answer yes");
    });

    test("by a subgraph that keeps its state from one call to the next, and goes on keeping it", async (fixture) => {
      const saver = await fixture.storage.getCheckpointer();
      const graph = (checkpointer: CheckpointSaver) => outer(checkpointer, counting());
      await graph(saver).invoke({ log: ["x"] }, threadConfig("t"));
      await graph(saver).invoke({ log: ["x"] }, threadConfig("t"));
      const { saver: next, thread_id } = await meanwhile(fixture, saver);
      const { log } = await graph(next).invoke({ log: ["x"] }, threadConfig(thread_id));
      expect(log.filter((line) => line.startsWith("call"))).toEqual(["call 1", "call 2", "call 3"]);
    });
  });
}

/** As LangGraph puts them where it does not wait: what is part of a checkpoint may be stored before that one. */
function listBeforeContract(open: OpenStorage): void {
  it(
    "a subgraph as of a checkpoint above it holds nothing that is part of that one or of a later one",
    withStorage(open, async ({ storage }) => {
      const saver = await storage.getCheckpointer();
      const at = (checkpoint_ns: string, parents: Record<string, string> = {}) => {
        const checkpoint = emptyCheckpoint();
        const put = () =>
          saver.put(threadConfig("t", { checkpoint_ns }), checkpoint, { source: "loop", step: 0, parents }, {});
        return { id: checkpoint.id, put };
      };
      const [first, second, third] = [at(""), at(""), at("")];
      const called = [first, second, third].map(({ id }) => at("inner", { "": id }));
      const [one, two, three] = called.map(({ id }, i) => {
        const root = [first, second, third][i] as typeof first;
        return at("inner|deep", { "": root.id, inner: id });
      });
      for (const each of [first, called[0], one, two, called[1], called[2], three, second, third]) await each?.put();
      const before = async (checkpoint_ns: string, checkpoint_id: string) => {
        const ids: string[] = [];
        const options = { before: { configurable: { checkpoint_id } } };
        for await (const { checkpoint } of saver.list(threadConfig("t", { checkpoint_ns }), options))
          ids.push(checkpoint.id);
        return ids;
      };
      const idsOf = (...of: ({ id: string } | undefined)[]) => of.map((each) => each?.id);
      expect(await before("inner", first.id)).toEqual([]);
      expect(await before("inner", second.id)).toEqual(idsOf(called[0]));
      expect(await before("inner", third.id)).toEqual(idsOf(called[1], called[0]));
      expect(await before("inner|deep", second.id)).toEqual(idsOf(one));
      expect(await before("inner|deep", called[1]?.id as string)).toEqual(idsOf(one));
      expect(await before("inner", called[2]?.id as string)).toEqual(idsOf(called[1], called[0]));
    }),
  );
}

/** Subgraphs that keep their state from one call to the next, in a copy that begins at a checkpoint. */
function keptStateContract(open: OpenStorage): void {
  it.each(["sync", "async", "exit"] as const)(
    "a copy from a checkpoint has what its subgraphs kept then, with durability %s",
    (durability) =>
      withStorage(open, async ({ storage, second }) => {
        const saver = await storage.getCheckpointer();
        const graph = countingOuter(saver);
        const heads: string[] = [];
        for (const n of [1, 2, 3]) {
          expect((await graph.invoke({ seen: -1 }, { ...threadConfig("t"), durability })).seen).toBe(n);
          heads.push((await saver.getTuple(threadConfig("t")))?.checkpoint.id as string);
        }
        const other = await elsewhere(storage, second);
        for (const [i, checkpoint_id] of heads.entries()) {
          await other.copyThread("t", `copy ${i}`, { checkpoint_id });
          const next = await countingOuter(other).invoke({ seen: -1 }, threadConfig(`copy ${i}`));
          expect(next.seen, `after call ${i + 1}`).toBe(i + 2);
        }
      })(),
  );

  it(
    "a copy from a checkpoint has what its subgraphs kept then, also where that is in the writes of several steps",
    withStorage(open, async ({ storage, second }) => {
      const saver = await storage.getCheckpointer();
      const other = await elsewhere(storage, second);
      for (let n = 1; n <= 5; n++) {
        expect((await collecting(saver).invoke({ seen: -1 }, threadConfig("t"))).seen).toBe(n);
        const checkpoint_id = (await saver.getTuple(threadConfig("t")))?.checkpoint.id as string;
        await other.copyThread("t", `copy ${n}`, { checkpoint_id });
        const next = await collecting(other).invoke({ seen: -1 }, threadConfig(`copy ${n}`));
        expect(next.seen, `after call ${n}`).toBe(n + 1);
      }
    }),
  );

  it(
    "what is part of a later checkpoint is in no copy from an earlier one, though it was stored before that",
    withStorage(open, async ({ storage }) => {
      const saver = await storage.getCheckpointer();
      const at = (checkpoint_ns: string, root?: string) => {
        const checkpoint = emptyCheckpoint();
        const parents: Record<string, string> = root === undefined ? {} : { "": root };
        const place = threadConfig("t", { checkpoint_ns });
        return { id: checkpoint.id, put: () => saver.put(place, checkpoint, { source: "loop", step: 0, parents }, {}) };
      };
      const [first, second, third] = [at(""), at(""), at("")];
      const [kept, later, task] = [at("kept", first.id), at("kept", third.id), at("task:1", third.id)];
      for (const each of [first, kept, later, task, second, third]) await each.put();
      const copied = async ({ id }: { id: string }) => {
        await saver.copyThread("t", id, { checkpoint_id: id });
        return (await listed(saver, threadConfig(id))).sort();
      };
      expect(await copied(first)).toEqual([first.id, kept.id].sort());
      expect(await copied(second)).toEqual([kept.id, second.id].sort());
      expect(await copied(third)).toEqual([kept.id, later.id, task.id, third.id].sort());
    }),
  );
}

/** Two steps, of which the second asks a human. */
function asking(checkpointer?: BaseCheckpointSaver, steps: string[] = []) {
  return new StateGraph(Log)
    .addNode("prepare", () => {
      steps.push("prepared");
      return { log: ["prepared"] };
    })
    .addNode("ask", () => {
      steps.push("asked");
      return { log: [`answer ${interrupt("go on?")}`] };
    })
    .addEdge(START, "prepare")
    .addEdge("prepare", "ask")
    .addEdge("ask", END)
    .compile(checkpointer && { checkpointer });
}

/** Counts its own calls in a state that nobody else sees. */
function counting() {
  const Counted = Annotation.Root({
    log: Annotation<string[]>(),
    calls: Annotation<number>({ reducer: (before, added) => before + added, default: () => 0 }),
  });
  return new StateGraph(Counted)
    .addNode("count", () => ({ calls: 1 }))
    .addNode("say", ({ calls }) => ({ log: [`call ${calls}`] }))
    .addEdge(START, "count")
    .addEdge("count", "say")
    .addEdge("say", END)
    .compile({ checkpointer: true });
}

/** Counts its own calls by a list, of which only every few checkpoints have all. */
function collecting(checkpointer: CheckpointSaver) {
  const calls = () =>
    new DeltaChannel<string[], string[]>((before, writes) => [...before, ...writes.flat()], {
      snapshotFrequency: 5,
      initialValueFactory: () => [],
    });
  const inner = new StateGraph(Annotation.Root({ calls, seen: Annotation<number>() }))
    .addNode("call", () => ({ calls: ["called"] }))
    .addNode("tell", (state) => ({ seen: state.calls.length }))
    .addEdge(START, "call")
    .addEdge("call", "tell")
    .addEdge("tell", END)
    .compile({ checkpointer: true });
  return new StateGraph(Annotation.Root({ seen: Annotation<number>() }))
    .addNode("inner", inner as never)
    .addEdge(START, "inner")
    .addEdge("inner", END)
    .compile({ checkpointer });
}

function outer(checkpointer: BaseCheckpointSaver | undefined, inner: unknown) {
  return new StateGraph(Log)
    .addNode("inner", inner as ReturnType<typeof asking>)
    .addEdge(START, "inner")
    .addEdge("inner", END)
    .compile(checkpointer && { checkpointer });
}
