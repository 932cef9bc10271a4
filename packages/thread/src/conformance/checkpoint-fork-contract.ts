import { describe, expect, it } from "vitest";
import type { CheckpointSaver } from "../checkpoint-saver.ts";
import { logOf, threadConfig, twoSteps } from "./checkpoint-graph.ts";
import { elsewhere, type Point, put, read, type Values } from "./checkpoint-line.ts";
import type { OpenStorage } from "./open-storage-fixture.ts";
import { withStorage } from "./with-storage.ts";

const LONG = "long enough to be stored on its own ".repeat(10);

export function checkpointForkContract(open: OpenStorage): void {
  const test = (name: string, body: Parameters<typeof withStorage>[1]) => it(name, withStorage(open, body));

  describe("forks", () => {
    test("a graph invoked at earlier checkpoints: every branch keeps its own values", async ({ storage, second }) => {
      const saver = await storage.getCheckpointer();
      const graph = twoSteps(saver);
      for (const input of ["a", "b", "c"]) await graph.invoke({ log: [input] }, threadConfig("t"));
      const before = await statesOf(saver, "t");
      const ids = [...before.keys()];
      for (const at of [ids[0], ids[2], ids[4], ids.at(-1)]) {
        const config = threadConfig("t", { checkpoint_id: at, checkpoint_ns: "" });
        await graph.invoke({ log: [`fork of ${at}`] }, config);
      }
      const fork = await graph.getState(threadConfig("t"));
      await graph.invoke({ log: ["fork of a fork"] }, { configurable: fork.parentConfig?.configurable ?? {} });
      const after = await statesOf(await elsewhere(storage, second), "t");
      for (const [id, values] of before) expect(after.get(id)).toStrictEqual(values);
      expect((await graph.getState(threadConfig("t"))).values.log.at(-1)).toBe("fork of a fork first second");
    });

    test("updateState branches off the head and off the middle", async ({ storage, second }) => {
      const saver = await storage.getCheckpointer();
      const graph = twoSteps(saver);
      await graph.invoke({ log: ["a"] }, threadConfig("t"));
      const before = await statesOf(saver, "t");
      const middle = [...before.keys()][2] as string;
      const config = await graph.updateState(threadConfig("t", { checkpoint_id: middle }), { note: { text: LONG } });
      await graph.updateState(threadConfig("t", { checkpoint_id: middle }), {
        log: ["other"],
        note: { text: "short" },
      });
      const after = await statesOf(await elsewhere(storage, second), "t");
      for (const [id, values] of before) expect(after.get(id)).toStrictEqual(values);
      expect((await graph.getState(config)).values).toMatchObject({
        log: before.get(middle)?.["log"],
        note: { text: LONG },
      });
      expect((await graph.getState(threadConfig("t"))).values).toMatchObject({ note: { text: "short" } });
    });

    test("checkpoints put by hand after any other one, with channels that are only taken over", async (fixture) => {
      const saver = await fixture.storage.getCheckpointer();
      const expected = new Map<Point, Values>();
      const add = async (after: string | Point, changes: Values) => {
        const base = typeof after === "string" ? {} : expected.get(after);
        const values = { ...base, ...changes };
        const point = await put(saver, after, values, { changed: Object.keys(changes) });
        expected.set(point, values);
        return point;
      };
      const root = await add("t", { list: [{ n: 0 }], kept: { text: LONG }, count: 1 });
      const left = await add(root, { list: [{ n: 0 }, { n: 1 }] });
      const right = await add(root, { list: [{ n: 0 }, { n: 2 }], count: 2 });
      const deep = await add(await add(left, { count: 3 }), { list: [{ n: 0 }, { n: 1 }, { text: LONG }] });
      await add(right, { kept: { text: "replaced" } });
      await add(deep, { list: [] });
      await add(await add(root, { count: undefined }), { list: [{ n: 0 }] });
      const other = await elsewhere(fixture.storage, fixture.second);
      for (const [point, values] of expected) expect(await read(other, point)).toStrictEqual(values);
      const head = await other.getTuple(threadConfig("t"));
      expect(head?.checkpoint.channel_values).toStrictEqual([...expected.values()].at(-1));
    });
  });

  copies(test);
}

function copies(test: (name: string, body: Parameters<typeof withStorage>[1]) => void): void {
  describe("copyThread", () => {
    test("gives the whole tree, and the two go on apart", async ({ storage, second }) => {
      const saver = await storage.getCheckpointer();
      const graph = twoSteps(saver);
      await graph.invoke({ log: ["a"] }, threadConfig("from"));
      const before = await statesOf(saver, "from");
      await graph.invoke({ log: ["b"] }, threadConfig("from", { checkpoint_id: [...before.keys()][3] }));
      await saver.copyThread("from", "to");
      const copied = await statesOf(saver, "from");
      expect(await statesOf(saver, "to")).toStrictEqual(copied);
      await graph.invoke({ log: ["c"] }, threadConfig("to"));
      await graph.invoke({ log: ["d"] }, threadConfig("from"));
      const other = await elsewhere(storage, second);
      expect((await read(other, "to"))?.["log"]).toEqual(logOf("a", "b", "c"));
      expect((await read(other, "from"))?.["log"]).toEqual(logOf("a", "b", "d"));
      const after = await statesOf(other, "from");
      for (const [id, values] of copied) expect(after.get(id)).toStrictEqual(values);
    });

    test("begins at a checkpoint, with what it held, and costs no more for a long thread", async ({
      storage,
      second,
    }) => {
      const saver = await storage.getCheckpointer();
      const graph = twoSteps(saver);
      for (const input of ["a", "b", "c"]) await graph.invoke({ log: [input] }, threadConfig("from"));
      const states = await statesOf(saver, "from");
      const [id, values] = [...states][6] as [string, Values];
      await saver.copyThread("from", "to", { checkpoint_id: id });
      const other = await elsewhere(storage, second);
      expect(await statesOf(other, "to")).toStrictEqual(new Map([[id, values]]));
      await graph.invoke(null, threadConfig("to"));
      expect((await read(other, "to"))?.["log"]).toEqual(logOf("a", "b"));
      expect(await statesOf(other, "from")).toStrictEqual(states);
    });

    test("deleting the original leaves the copy and its copies whole, and the other way round", async (fixture) => {
      const saver = await fixture.storage.getCheckpointer();
      const graph = twoSteps(saver);
      await graph.invoke({ log: ["a"], note: { text: LONG } }, threadConfig("one"));
      await saver.copyThread("one", "two");
      await graph.invoke({ log: ["b"] }, threadConfig("two"));
      await saver.copyThread("two", "three");
      await graph.invoke({ log: ["c"] }, threadConfig("three"));
      const kept = await statesOf(saver, "three");
      await saver.deleteThread("one");
      const other = await elsewhere(fixture.storage, fixture.second);
      expect((await read(other, "two"))?.["log"]).toEqual(logOf("a", "b"));
      expect(await statesOf(other, "three")).toStrictEqual(kept);
      await other.deleteThread("three");
      expect((await read(saver, "two"))?.["log"]).toEqual(logOf("a", "b"));
      await graph.invoke({ log: ["d"] }, threadConfig("two"));
      expect(await read(other, "two")).toMatchObject({ log: logOf("a", "b", "d"), note: { text: LONG } });
    });

    test("refuses a source that isn't there, a checkpoint that isn't, and a name that is or was taken", async (fixture) => {
      const saver = await fixture.storage.getCheckpointer();
      await put(saver, "from", { n: 1 });
      await put(saver, "taken", { n: 2 });
      await put(saver, "gone", { n: 3 });
      await saver.deleteThread("gone");
      await expect(saver.copyThread("none", "to")).rejects.toMatchObject({ code: "thread_not_found" });
      await expect(saver.copyThread("gone", "to")).rejects.toMatchObject({ code: "thread_not_found" });
      const nowhere = saver.copyThread("from", "to", { checkpoint_id: "none" });
      await expect(nowhere).rejects.toMatchObject({ code: "checkpoint_not_found" });
      await expect(saver.copyThread("from", "taken")).rejects.toMatchObject({ code: "already_exists" });
      await expect(saver.copyThread("from", "gone")).rejects.toMatchObject({ code: "already_exists" });
      expect(await read(saver, "to")).toBeUndefined();
      expect(await read(saver, "taken")).toEqual({ n: 2 });
      await saver.copyThread("from", "to");
      expect(await read(saver, "to")).toEqual({ n: 1 });
    });
  });
}

/** Every root checkpoint of a thread by id, oldest first, with what it holds of the graph's own state. */
export async function statesOf(saver: CheckpointSaver, thread_id: string): Promise<Map<string, Values>> {
  const states: [string, Values][] = [];
  for await (const { checkpoint } of saver.list({ configurable: { thread_id, checkpoint_ns: "" } })) {
    states.push([checkpoint.id, checkpoint.channel_values]);
  }
  return new Map(states.reverse());
}
