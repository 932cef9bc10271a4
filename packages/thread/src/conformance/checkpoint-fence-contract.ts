import { setTimeout as delay } from "node:timers/promises";
import { END, START, StateGraph } from "@langchain/langgraph";
import { describe, expect, it, vi } from "vitest";
import { LEASE, type WriterLease } from "../checkpoint/lease.ts";
import type { CheckpointSaver } from "../checkpoint-saver.ts";
import type { ClaimedRun } from "../run-store.ts";
import type { Storage } from "../storage.ts";
import { Log, logOf, threadConfig, twoSteps } from "./checkpoint-graph.ts";
import { elsewhere, listed, put, read } from "./checkpoint-line.ts";
import { inTime } from "./collect.ts";
import type { OpenStorage } from "./open-storage-fixture.ts";
import { claim, NO_TIME, readAll, token } from "./started-run.ts";
import { withoutUnhandledRejections } from "./unhandled-rejections.ts";
import { until } from "./until.ts";
import { withStorage } from "./with-storage.ts";

/** Long enough for Node to call a rejection unhandled, if nobody listens to it until the step is over. */
const STILL_AT_WORK_MS = 20;

/** A run whose thread another worker has taken over, and one whose thread is gone: neither leaves a trace. */
export function checkpointFenceContract(open: OpenStorage): void {
  const test = (name: string, body: Parameters<typeof withStorage>[1]) => it(name, withStorage(open, body));

  describe("a lease that was taken over", () => {
    test("is refused on put, and told so; nothing of it is stored, its events neither", async ({ storage, second }) => {
      const saver = await storage.getCheckpointer();
      const { old, session_id, thread_id } = await takenOver(storage);
      const lost = vi.fn();
      const committed = vi.fn();
      const lease: WriterLease = { ...old, lost, committed, takeEvents: () => [token("unseen")] };
      const refused = put(saver, thread_id, { n: 1 }, { configurable: { [LEASE]: lease } });
      await expect(refused).rejects.toMatchObject({ code: "stale_epoch", details: { epoch: old.epoch + 1 } });
      expect(lost).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ code: "stale_epoch" }));
      expect(committed).not.toHaveBeenCalled();
      expect(await (await elsewhere(storage, second)).getTuple(threadConfig(thread_id))).toBeUndefined();
      expect(await readAll(storage, session_id)).toEqual([]);
    });

    test("is refused on putWrites, and told so; nothing of it is stored", async ({ storage, second }) => {
      const saver = await storage.getCheckpointer();
      const { old, current, thread_id } = await takenOver(storage);
      const first = await put(saver, thread_id, { n: 1 }, { configurable: { [LEASE]: { ...current } } });
      const lost = vi.fn();
      const configurable = { ...first.config.configurable, [LEASE]: { ...old, lost } };
      const refused = saver.putWrites({ configurable }, [["n", 2]], "task");
      await expect(refused).rejects.toMatchObject({ code: "stale_epoch" });
      expect(lost).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ code: "stale_epoch" }));
      const other = await elsewhere(storage, second);
      expect((await other.getTuple(first.config))?.pendingWrites).toEqual([]);
    });

    test("goes on being refused, also on a thread that has no checkpoint or session", async ({ storage }) => {
      const saver = await storage.getCheckpointer();
      const { old, thread_id } = await takenOver(storage);
      const lease: WriterLease = { ...old };
      for (let n = 0; n < 2; n++) {
        const refused = put(saver, thread_id, { n }, { configurable: { [LEASE]: lease } });
        await expect(refused).rejects.toMatchObject({ code: "stale_epoch" });
      }
      const nowhere = put(saver, "none", { n: 1 }, { configurable: { [LEASE]: { run_id: "r", epoch: 7 } } });
      await expect(nowhere).rejects.toMatchObject({ code: expect.stringMatching(/^(thread_not_found|stale_epoch)$/) });
      expect(await read(saver, "none")).toBeUndefined();
    });
  });

  describe.each(["sync", "async"] as const)(
    "a run that loses its lease while tools run, durability %s",
    (durability) => {
      test("ends with stale_epoch, the process survives, and the new owner goes on", async ({ storage, second }) => {
        const other = second ? await second() : storage;
        const { current, thread_id } = await takenOver(storage);
        const saver = await storage.getCheckpointer();
        const lost = Promise.withResolvers<void>();
        const lease: WriterLease = { ...current, lost: () => lost.resolve() };
        const graph = parallel({
          // Its writes come too late; the other tool is still at work when they are refused. (Were it the checkpoint
          // that is refused, LangGraph would leave that unhandled under "async", whatever a checkpointer does.)
          fast: async () => {
            await until("the step's checkpoint", async () =>
              (await stepOf(saver, thread_id)) === 0 ? true : undefined,
            );
            await claim(other, { lease_ms: NO_TIME });
          },
          slow: async () => {
            await inTime("the loss", lost.promise);
            await delay(STILL_AT_WORK_MS);
          },
        }).compile({ checkpointer: saver });
        await withoutUnhandledRejections(async () => {
          const run = graph.invoke({ log: ["start"] }, { ...threadConfig(thread_id, { [LEASE]: lease }), durability });
          await expect(inTime("the run's end", run)).rejects.toMatchObject({ code: "stale_epoch" });
        });
        const next = await claim(other);
        const calm = parallel({ fast: async () => undefined, slow: async () => undefined });
        const resumed = calm.compile({ checkpointer: await other.getCheckpointer() });
        const result = await resumed.invoke(null, threadConfig(thread_id, { [LEASE]: { ...next } }));
        expect(result.log).toEqual(["start", "fast", "slow"]);
      });
    },
  );

  deletedThreads(test);
}

function deletedThreads(test: (name: string, body: Parameters<typeof withStorage>[1]) => void): void {
  describe("a deleted thread", () => {
    test("stays deleted: no config of it writes any more, none reads", async ({ storage, second }) => {
      const saver = await storage.getCheckpointer();
      const other = await elsewhere(storage, second);
      const first = await put(saver, "t", { n: 1 });
      await saver.putWrites(first.config, [["n", 2]], "task");
      await other.deleteThread("t");
      const deleted = { code: "thread_deleted" };
      for (const each of [saver, other]) {
        await expect(put(each, first, { n: 3 })).rejects.toMatchObject(deleted);
        await expect(put(each, "t", { n: 3 })).rejects.toMatchObject(deleted);
        await expect(put(each, "t", { n: 3 }, { ns: "sub" })).rejects.toMatchObject(deleted);
        await expect(each.putWrites(first.config, [["n", 3]], "task")).rejects.toMatchObject(deleted);
        await expect(each.setThreadTtl("t", 1_000)).rejects.toMatchObject({ code: "thread_not_found" });
        expect(await each.getTuple(threadConfig("t"))).toBeUndefined();
        expect(await each.getTuple(first.config)).toBeUndefined();
        expect(await listed(each, threadConfig("t"))).toEqual([]);
        await each.deleteThread("t");
      }
      expect(await listed(saver, {})).toEqual([]);
      await saver.deleteThread("never there");
      await put(saver, "never there", { n: 1 });
    });

    test("refuses a graph that was running on it", async ({ storage, second }) => {
      const saver = await storage.getCheckpointer();
      const other = await elsewhere(storage, second);
      for (const durability of ["sync", "async", "exit"] as const) {
        const thread_id = `t ${durability}`;
        const graph = twoSteps(saver, {
          first: async () => {
            // A put that is refused while a step runs is an unhandled rejection of LangGraph's own in this mode.
            if (durability === "async") {
              const log = async () => (await read(other, thread_id))?.["log"];
              await expect.poll(log, { timeout: 20_000 }).toContain("late");
            }
            await other.deleteThread(thread_id);
          },
        });
        await twoSteps(saver).invoke({ log: ["before"] }, threadConfig(thread_id));
        await withoutUnhandledRejections(async () => {
          const run = graph.invoke({ log: ["late"] }, { ...threadConfig(thread_id), durability });
          await expect(run).rejects.toMatchObject({ code: "thread_deleted" });
        });
        expect(await read(other, thread_id)).toBeUndefined();
      }
    });

    test("goes with its session, whose run is told", async ({ storage, second }) => {
      const other = second ? await second() : storage;
      const { current, session_id, thread_id } = await takenOver(storage);
      const saver = await storage.getCheckpointer();
      const lost = vi.fn();
      const lease: WriterLease = { ...current, lost };
      await twoSteps(saver).invoke({ log: ["a"] }, threadConfig(thread_id, { [LEASE]: lease }));
      expect((await read(saver, thread_id))?.["log"]).toEqual(logOf("a"));
      await other.deleteSession(session_id);
      const late = twoSteps(saver).invoke({ log: ["b"] }, threadConfig(thread_id, { [LEASE]: lease }));
      await expect(late).rejects.toMatchObject({ code: "thread_deleted" });
      expect(lost).toHaveBeenCalledWith(expect.objectContaining({ code: "thread_deleted" }));
      expect(await read(saver, thread_id)).toBeUndefined();
    });
  });
}

interface TakenOver {
  session_id: string;
  thread_id: string;
  old: ClaimedRun;
  current: ClaimedRun;
}

/** A run that was claimed twice: the first owner's lease had run out. */
async function takenOver(storage: Storage): Promise<TakenOver> {
  const { id: session_id, thread_id } = await storage.createSession({});
  await storage.createRun({ session_id });
  const old = await claim(storage, { lease_ms: NO_TIME });
  return { session_id, thread_id, old, current: await claim(storage, { lease_ms: NO_TIME }) };
}

async function stepOf(saver: CheckpointSaver, thread_id: string): Promise<number | undefined> {
  return (await saver.getTuple(threadConfig(thread_id)))?.metadata?.step;
}

/** Two nodes in one step, as an agent's tool calls are. */
function parallel(nodes: { fast: () => Promise<void>; slow: () => Promise<void> }) {
  return new StateGraph(Log)
    .addNode("fast", async () => {
      await nodes.fast();
      return { log: ["fast"] };
    })
    .addNode("slow", async () => {
      await nodes.slow();
      return { log: ["slow"] };
    })
    .addEdge(START, "fast")
    .addEdge(START, "slow")
    .addEdge("fast", END)
    .addEdge("slow", END);
}
