import type { RunnableConfig } from "@langchain/core/runnables";
import { describe, expect, it } from "vitest";
import type { CheckpointSaver } from "../checkpoint-saver.ts";
import { logOf, threadConfig, twoSteps } from "./checkpoint-graph.ts";
import { elsewhere, put, read } from "./checkpoint-line.ts";
import { inTime } from "./collect.ts";
import type { OpenStorage } from "./open-storage-fixture.ts";
import { withoutUnhandledRejections } from "./unhandled-rejections.ts";
import { withStorage } from "./with-storage.ts";

const DURABILITIES = ["sync", "async", "exit"] as const;
type Durability = (typeof DURABILITIES)[number];

/** Two runs that meet on one thread: one of them is refused, and what the other made is whole. */
export function checkpointWriterContract(open: OpenStorage): void {
  const test = (name: string, body: Parameters<typeof withStorage>[1]) => it(name, withStorage(open, body));

  describe.each(DURABILITIES)("two invocations at once, durability %s", (durability) => {
    test("in one instance: one is refused, the other's state is whole", async ({ storage }) => {
      const saver = await storage.getCheckpointer();
      await expectOneWinner(saver, saver, durability);
    });

    test("in two instances, where there can be two: one is refused, the other's state is whole", async ({
      storage,
      second,
    }) => {
      await expectOneWinner(await storage.getCheckpointer(), await elsewhere(storage, second), durability);
    });

    test("with one signal for both, as a server has it", async ({ storage }) => {
      const saver = await storage.getCheckpointer();
      await expectOneWinner(saver, saver, durability, new AbortController().signal);
    });
  });

  describe("two writers", () => {
    test("what a refused invocation says afterwards is not stored either", async ({ storage, second }) => {
      const saver = await storage.getCheckpointer();
      const other = await elsewhere(storage, second);
      const { signal } = new AbortController();
      const first = await put(saver, "t", { n: 1 });
      await saver.getTuple({ ...threadConfig("t"), signal });
      const moved = await put(other, first, { n: 2 });
      const refused = { code: "concurrent_writer", details: { head: moved.checkpoint.id } };
      await expect(put(saver, first, { n: 3 }, { signal })).rejects.toMatchObject(refused);
      const late = saver.putWrites({ ...first.config, signal }, [["n", 4]], "task");
      await expect(late).rejects.toMatchObject({ code: "concurrent_writer" });
      expect(await read(other, "t")).toEqual({ n: 2 });
      expect((await other.getTuple(first.config))?.pendingWrites).toEqual([]);
    });

    test("writes of two invocations through one instance stay apart when one is refused", async ({
      storage,
      second,
    }) => {
      const saver = await storage.getCheckpointer();
      const other = await elsewhere(storage, second);
      const [one, two] = [new AbortController().signal, new AbortController().signal];
      const list = Array.from({ length: 30 }, (_, n) => ({ n, text: "some text to share" }));
      const first = await put(saver, "t", { list: [] });
      await saver.getTuple({ ...threadConfig("t"), signal: one });
      await put(other, first, { list: [{ n: -1 }] });
      const config = { configurable: first.config.configurable ?? {} };
      const results = await Promise.allSettled([
        put(saver, first, { list }, { signal: one }),
        saver.putWrites({ ...config, signal: two }, [["list", [{ n: -2 }]]], "two"),
        saver.putWrites({ ...config, signal: one }, [["list", list]], "one"),
      ]);
      expect(results.map(({ status }) => status)).toEqual(["rejected", "fulfilled", "rejected"]);
      const tuple = await other.getTuple(first.config);
      expect(tuple?.pendingWrites).toEqual([["two", "list", [{ n: -2 }]]]);
    });

    test("a fork on purpose, by checkpoint_id, is not refused though the head has moved", async ({
      storage,
      second,
    }) => {
      const saver = await storage.getCheckpointer();
      const other = await elsewhere(storage, second);
      const graph = twoSteps(saver);
      await graph.invoke({ log: ["a"] }, threadConfig("t"));
      const { config } = await graph.getState(threadConfig("t"));
      await twoSteps(other).invoke({ log: ["b"] }, threadConfig("t"));
      for (const durability of DURABILITIES) {
        await graph.invoke({ log: [durability] }, { configurable: config.configurable ?? {}, durability });
        expect((await read(other, "t"))?.["log"]).toEqual(logOf("a", durability));
      }
    });

    test("a fork on purpose is not refused either where LangGraph looks for the newest as well", async ({
      storage,
      second,
    }) => {
      const saver = await storage.getCheckpointer();
      const other = await elsewhere(storage, second);
      const { signal } = new AbortController();
      const first = await put(saver, "t", { n: 1 });
      const newest = await put(saver, first, { n: 2 });
      // From 1.5 on it does, within the same invocation, to know whether what was named has been gone on from.
      await saver.getTuple({ ...first.config, signal });
      await saver.getTuple({ ...threadConfig("t"), signal });
      await put(other, newest, { n: 3 });
      const fork = await put(saver, first, { n: 4 }, { signal });
      expect(await read(other, "t")).toEqual({ n: 4 });
      // From its own first checkpoint on it is a writer as any other.
      await put(other, fork, { n: 5 });
      await expect(put(saver, fork, { n: 6 }, { signal })).rejects.toMatchObject({ code: "concurrent_writer" });
    });

    test("of two that update the state at once one is refused, on a thread that is there and on a new one", async ({
      storage,
      second,
    }) => {
      const saver = await storage.getCheckpointer();
      const other = await elsewhere(storage, second);
      const refused = { code: "concurrent_writer" };
      for (const thread of ["new", "old"]) {
        const config = threadConfig(thread);
        if (thread === "old") await twoSteps(saver).updateState(config, { log: ["before"] }, "first");
        const before = thread === "old" ? ["before"] : [];
        // Both have read before either writes.
        const update = async (on: CheckpointSaver, name: string) => {
          const overtaken = overtake(on, () =>
            twoSteps(other).updateState(config, { log: [`${name} first`] }, "first"),
          );
          await expect(twoSteps(overtaken).updateState(config, { log: [name] }, "first")).rejects.toMatchObject(
            refused,
          );
        };
        await update(saver, "x");
        await update(other, "y");
        expect((await read(other, thread))?.["log"]).toEqual([...before, "x first", "y first"]);
        await twoSteps(saver).updateState(config, { log: ["after"] }, "first");
        expect((await read(other, thread))?.["log"]).toEqual([...before, "x first", "y first", "after"]);
      }
    });

    test("an update that names its checkpoint branches, though the same was read as the newest", async ({
      storage,
      second,
    }) => {
      const graph = twoSteps(await storage.getCheckpointer());
      const other = await elsewhere(storage, second);
      await graph.updateState(threadConfig("t"), { log: ["a"] }, "first");
      const { config } = await graph.getState(threadConfig("t"));
      await twoSteps(other).updateState(threadConfig("t"), { log: ["b"] }, "first");
      await graph.updateState(config, { log: ["c"] }, "first");
      expect((await read(other, "t"))?.["log"]).toEqual(["a", "c"]);
    });

    test("several checkpoints of a fork that go into one commit are not taken for another writer's", async ({
      storage,
    }) => {
      const saver = await storage.getCheckpointer();
      const { signal } = new AbortController();
      const first = await put(saver, "t", { n: 1 });
      await put(saver, first, { n: 2 });
      await saver.getTuple({ ...first.config, signal });
      const branch = put(saver, first, { n: 3 }, { signal });
      const more = put(saver, first, { n: 4 }, { signal });
      await Promise.all([branch, more]);
      expect(await read(saver, "t")).toEqual({ n: 4 });
    });
  });
}

async function expectOneWinner(
  one: CheckpointSaver,
  two: CheckpointSaver,
  durability: Durability,
  signal?: AbortSignal,
) {
  await withoutUnhandledRejections(async () => {
    await twoSteps(one).invoke({ log: ["before"] }, threadConfig("t"));
    const arrived = { x: Promise.withResolvers<void>(), y: Promise.withResolvers<void>() };
    // Neither leaves its first step before the other has begun its own or was refused.
    const run = async (name: "x" | "y", saver: CheckpointSaver) => {
      const first = async () => {
        arrived[name].resolve();
        await Promise.all([arrived.x.promise, arrived.y.promise]);
      };
      const config = { ...threadConfig("t"), durability, ...(signal && { signal }) };
      try {
        return await twoSteps(saver, { first }).invoke({ log: [name] }, config);
      } finally {
        arrived[name].resolve();
      }
    };
    const results = await inTime("both invocations", Promise.allSettled([run("x", one), run("y", two)]));
    const refused = results.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
    expect(refused).toMatchObject([{ code: "concurrent_writer" }]);
    const winner = results[0]?.status === "fulfilled" ? "x" : "y";
    const log = await logAt(two);
    expect(log.slice(0, 3)).toEqual(logOf("before"));
    expect(log.slice(-3)).toEqual(logOf(winner));
    for (const saver of [one, two]) {
      await twoSteps(saver).invoke({ log: ["after"] }, threadConfig("t"));
      expect((await logAt(one)).slice(-3)).toEqual(logOf("after"));
    }
  });
}

/** The saver, where something else happens between a read and what is put after it. */
function overtake(saver: CheckpointSaver, meanwhile: () => Promise<unknown>): CheckpointSaver {
  return new Proxy(saver, {
    get(target, key) {
      const member = Reflect.get(target, key);
      if (typeof member !== "function") return member;
      if (key !== "getTuple") return member.bind(target);
      return async (config: RunnableConfig) => {
        const tuple = await target.getTuple(config);
        await meanwhile();
        return tuple;
      };
    },
  });
}

async function logAt(saver: CheckpointSaver): Promise<string[]> {
  const values = await read(saver, "t");
  return values?.["log"] as string[];
}
