import { HumanMessage } from "@langchain/core/messages";
import { describe, expect, it } from "vitest";
import { threadConfig, twoSteps } from "./checkpoint-graph.ts";
import { comparable, elsewhere, put, read } from "./checkpoint-line.ts";
import type { OpenStorage } from "./open-storage-fixture.ts";
import { withStorage } from "./with-storage.ts";

const LONG = "long enough to be stored on its own ".repeat(10);
const RUNS = 10;

/** A process that remembers what it has stored, while another one removes that: it must never name what is gone. */
export function checkpointSweepContract(open: OpenStorage): void {
  const test = (name: string, body: Parameters<typeof withStorage>[1]) => it(name, withStorage(open, body));

  describe("what another instance has swept", () => {
    test("is stored again when it comes back into the state", async ({ storage, second }) => {
      const saver = await storage.getCheckpointer();
      const other = await elsewhere(storage, second);
      const { signal } = new AbortController();
      const list = Array.from({ length: 20 }, (_, n) => new HumanMessage({ id: `${n}`, content: `${n}` }));
      const map = { a: { text: LONG } };
      const first = await put(saver, "t", { list, map }, { signal });
      const empty = await put(saver, first, { list: [], map: {} }, { signal });
      expect((await other.prune({ thread_id: "t" })).pieces).toBeGreaterThan(0);
      const again = await put(saver, empty, { list, map }, { signal });
      expect(await read(other, again)).toStrictEqual(comparable({ list, map }));
    });

    test("is stored again when it comes back in a write", async ({ storage, second }) => {
      const saver = await storage.getCheckpointer();
      const other = await elsewhere(storage, second);
      const list = Array.from({ length: 20 }, (_, n) => new HumanMessage({ id: `${n}`, content: `${n}` }));
      const first = await put(saver, "t", { list });
      const empty = await put(saver, first, { list: [] });
      await other.prune({ thread_id: "t" });
      await saver.putWrites(empty.config, [["list", list]], "task");
      const tuple = await other.getTuple(empty.config);
      expect(comparable(tuple?.pendingWrites)).toStrictEqual([["task", "list", comparable(list)]]);
    });

    test("is stored again when it comes back as a copy", async ({ storage, second }) => {
      const saver = await storage.getCheckpointer();
      const other = await elsewhere(storage, second);
      const list = Array.from({ length: 20 }, (_, n) => ({ n, text: LONG }));
      const first = await put(saver, "t", { list });
      const empty = await put(saver, first, { list: [] });
      await other.prune({ thread_id: "t" });
      const again = await put(saver, empty, { list: structuredClone(list) });
      expect(await read(other, again)).toStrictEqual({ list });
    });

    test("is not taken over from a checkpoint that went", async ({ storage, second }) => {
      const saver = await storage.getCheckpointer();
      const other = await elsewhere(storage, second);
      const values = { kept: { text: LONG, n: 1 }, n: 1 };
      const first = await put(saver, "t", values);
      const last = await put(saver, first, { kept: { text: LONG, n: 2 }, n: 2 });
      for (const reread of [false, true]) {
        await other.prune({ thread_id: "t" });
        if (reread) await saver.getTuple(threadConfig("t"));
        const branch = await put(saver, first, { ...values, n: 3 }, { changed: ["n"] });
        expect(await read(other, branch)).toStrictEqual({ ...values, n: 3 });
      }
      expect(await read(other, last)).toStrictEqual({ kept: { text: LONG, n: 2 }, n: 2 });
    });

    test("by deleting a fork is stored again too", async ({ storage, second }) => {
      const saver = await storage.getCheckpointer();
      const other = await elsewhere(storage, second);
      const list = Array.from({ length: 20 }, (_, n) => ({ n, text: LONG }));
      const first = await put(saver, "t", { list });
      await saver.copyThread("t", "fork");
      await put(saver, first, { list: [] });
      await other.prune({ thread_id: "t" });
      const fork = await put(saver, "fork", { list: [] });
      await other.prune({ thread_id: "fork" });
      const next = await put(saver, fork, { list });
      expect(await read(other, next)).toStrictEqual({ list });
      await other.deleteThread("t");
      const last = await put(saver, next, { list: [...list, { n: 20, text: LONG }] });
      expect(await read(other, last)).toHaveProperty("list.length", 21);
    });

    test("does not disturb a run that is under way, whenever it happens", async ({ storage, second }) => {
      const saver = await storage.getCheckpointer();
      const other = await elsewhere(storage, second);
      const graph = twoSteps(saver, { first: () => other.prune(), second: () => other.prune() });
      const inputs: string[] = [];
      for (let n = 0; n < RUNS; n++) {
        // A note that comes and goes: it is swept in between, and back as the same object.
        inputs.push(`${n}`);
        const note = n % 2 ? NOTE : undefined;
        const durability = n % 3 ? "sync" : "async";
        const result = await graph.invoke({ log: [`${n}`], note }, { ...threadConfig("t"), durability });
        expect(await read(other, "t")).toMatchObject({ log: result.log });
        expect((await read(other, "t"))?.["note"]).toEqual(note);
      }
      expect((await graph.getState(threadConfig("t"))).values.log).toHaveLength(3 * inputs.length);
    });
  });
}

const NOTE = { text: LONG };
