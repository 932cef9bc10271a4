import { describe, expect, it } from "vitest";
import { LEASE } from "../checkpoint/lease.ts";
import { logOf, threadConfig, twoSteps } from "./checkpoint-graph.ts";
import { elsewhere, listed, put, read } from "./checkpoint-line.ts";
import { ODD_TEXTS } from "./odd-text.ts";
import type { OpenStorage } from "./open-storage-fixture.ts";
import { claim, upTo } from "./started-run.ts";
import { until } from "./until.ts";
import { withStorage } from "./with-storage.ts";

const MANY = 50;

export function checkpointThreadContract(open: OpenStorage): void {
  const test = (name: string, body: Parameters<typeof withStorage>[1]) => it(name, withStorage(open, body));

  describe("threads", () => {
    test("what was put is there after a restart, and the graph goes on", async ({ storage, reopen }) => {
      if (!reopen) return;
      await twoSteps(await storage.getCheckpointer()).invoke({ log: ["a"] }, threadConfig("t"));
      const saver = await (await reopen()).getCheckpointer();
      expect((await read(saver, "t"))?.["log"]).toEqual(logOf("a"));
      const { log } = await twoSteps(saver).invoke({ log: ["b"] }, threadConfig("t"));
      expect(log).toEqual(logOf("a", "b"));
    });

    test("a checkpoint that is put again holds what it was given last, and stands where it stood", async (fixture) => {
      const saver = await fixture.storage.getCheckpointer();
      const first = await put(saver, "t", { n: 1 });
      const second = await put(saver, first, { n: 2 });
      const newVersions = { n: saver.getNextVersion(second.checkpoint.channel_versions["n"]) };
      const again = { ...second.checkpoint, channel_values: { n: 3 }, channel_versions: newVersions };
      await saver.put(first.config, again, { source: "loop", step: 7, parents: {} }, newVersions);
      const other = await elsewhere(fixture.storage, fixture.second);
      const tuple = await other.getTuple(second.config);
      expect(tuple).toMatchObject({ checkpoint: { channel_values: { n: 3 } }, metadata: { step: 7 } });
      expect(tuple?.parentConfig).toEqual(first.config);
      expect(await listed(other, threadConfig("t"))).toEqual([again.id, first.checkpoint.id]);
    });

    test("a checkpoint that is put twice at once holds what it was given last", async (fixture) => {
      const saver = await fixture.storage.getCheckpointer();
      const { config, checkpoint } = await put(saver, "t", { n: 1 });
      const putAgain = (n: number) => {
        const again = { ...checkpoint, channel_values: { n } };
        return saver.put(
          threadConfig("t"),
          again,
          { source: "loop", step: n, parents: {} },
          checkpoint.channel_versions,
        );
      };
      await Promise.all([2, 3].map(putAgain));
      const other = await elsewhere(fixture.storage, fixture.second);
      expect(await other.getTuple(config)).toMatchObject({
        checkpoint: { channel_values: { n: 3 } },
        metadata: { step: 3 },
      });
      expect(await listed(other, threadConfig("t"))).toEqual([checkpoint.id]);
    });

    test("a graph that failed goes on from its last step, elsewhere, and repeats nothing that was done", async (fixture) => {
      const saver = await fixture.storage.getCheckpointer();
      const broken = twoSteps(saver, {
        second: () => {
          throw new Error("out of order");
        },
      });
      await expect(broken.invoke({ log: ["a"] }, threadConfig("t"))).rejects.toThrow("out of order");
      const other = await elsewhere(fixture.storage, fixture.second);
      let calls = 0;
      const { log } = await twoSteps(other, { first: () => calls++ }).invoke(null, threadConfig("t"));
      expect(log).toEqual(logOf("a"));
      expect(calls).toBe(0);
    });

    test("fifty runs on fifty threads at once", async ({ storage, second }) => {
      const savers = [await storage.getCheckpointer(), await elsewhere(storage, second)];
      await Promise.all(
        upTo(MANY).map(async (n) => {
          const graph = twoSteps(savers[n % 2] as (typeof savers)[0]);
          for (const input of ["a", "b"]) await graph.invoke({ log: [`${input}${n}`] }, threadConfig(`t${n}`));
        }),
      );
      for (const n of upTo(MANY)) {
        const saver = savers[(n + 1) % 2] as (typeof savers)[0];
        expect((await read(saver, `t${n}`))?.["log"]).toEqual(logOf(`a${n}`, `b${n}`));
      }
    });

    test("fifty writes to one checkpoint at once: each once, the first of two with one name stays", async (fixture) => {
      const { storage, second } = fixture;
      const savers = [await storage.getCheckpointer(), await elsewhere(storage, second)];
      const { config } = await put(savers[0] as (typeof savers)[0], "t", { n: 0 });
      const write = (n: number, value: string) => savers[n % 2]?.putWrites(config, [["n", value]], `task ${n}`);
      await Promise.all(upTo(MANY).map((n) => write(n, `${n}`)));
      await Promise.all(upTo(MANY).map((n) => write(n, "again")));
      const writes = (await savers[0]?.getTuple(config))?.pendingWrites ?? [];
      expect(writes).toHaveLength(MANY);
      expect(new Map(writes.map(([task, , value]) => [task, value]))).toEqual(
        new Map(upTo(MANY).map((n) => [`task ${n}`, `${n}`])),
      );
    });

    test("a listing gives each checkpoint once, newest first, whatever is put meanwhile", async ({
      storage,
      second,
    }) => {
      const saver = await storage.getCheckpointer();
      const other = await elsewhere(storage, second);
      const ids: string[] = [];
      let at: Parameters<typeof put>[1] = "t";
      for (let n = 0; n < MANY; n++) {
        at = await put(saver, at, { n });
        ids.unshift(at.checkpoint.id);
      }
      await saver.copyThread("t", "copy");
      expect(await listed(other, {})).toEqual(ids.flatMap((id) => [id, id]));
      const found: string[] = [];
      for await (const { checkpoint } of other.list(threadConfig("t"))) {
        found.push(checkpoint.id);
        if (found.length % 10 === 1) at = await put(saver, at, { n: -1 });
      }
      expect(found).toEqual(ids);
    });

    test("ids may hold any text, and don't run into each other", async ({ storage, second }) => {
      const saver = await storage.getCheckpointer();
      const other = await elsewhere(storage, second);
      const ids = [...ODD_TEXTS.filter((text) => text !== ""), "a", "A", "a ", "ab", "0", "null"];
      for (const id of ids) await put(saver, id, { id });
      for (const id of ids) {
        expect(await read(other, id)).toEqual({ id });
        expect(await listed(other, threadConfig(id))).toHaveLength(1);
      }
      await saver.deleteThread("a");
      expect(await read(other, "A")).toEqual({ id: "A" });
    });

    test("an id that is missing, empty or too long is refused", async ({ storage }) => {
      const saver = await storage.getCheckpointer();
      const { checkpoint } = await put(saver, "t".repeat(255), { n: 1 });
      const metadata = { source: "input" as const, step: -1, parents: {} };
      for (const configurable of [{}, { thread_id: "" }, { thread_id: "t".repeat(256) }]) {
        await expect(saver.put({ configurable }, checkpoint, metadata, {})).rejects.toMatchObject({
          code: "validation_failed",
        });
        const write = saver.putWrites({ configurable: { ...configurable, checkpoint_id: "c" } }, [], "task");
        await expect(write).rejects.toMatchObject({ code: "validation_failed" });
      }
      const nowhere = saver.putWrites(threadConfig("t"), [["n", 1]], "task");
      await expect(nowhere).rejects.toMatchObject({ code: "validation_failed" });
      expect(await saver.getTuple({})).toBeUndefined();
    });
  });

  sizes(test);
  lifetimes(test);
  names(test);
}

function sizes(test: (name: string, body: Parameters<typeof withStorage>[1]) => void): void {
  describe("threadSize", () => {
    test("grows by what is new only, and counts what a fork shares once", async ({ storage }) => {
      const saver = await storage.getCheckpointer();
      const list = Array.from({ length: 100 }, (_, n) => ({ n, text: "x".repeat(1_000) }));
      let at = await put(saver, "t", { list });
      const first = await saver.threadSize("t");
      expect(first).toBeGreaterThan(100_000);
      for (let n = 0; n < 10; n++) at = await put(saver, at, { list: [...list, { n }], n });
      expect((await saver.threadSize("t")) - first).toBeLessThan(20_000);
      await saver.copyThread("t", "copy");
      expect(await saver.threadSize("copy")).toBeLessThan(20_000);
      await saver.deleteThread("t");
      await expect(saver.threadSize("t")).rejects.toMatchObject({ code: "thread_not_found" });
      await expect(saver.threadSize("none")).rejects.toMatchObject({ code: "thread_not_found" });
    });
  });
}

const LATER_MS = 3_600_000;

function names(test: (name: string, body: Parameters<typeof withStorage>[1]) => void): void {
  describe("a thread's id", () => {
    test("may be a number, which every method takes for its text", async ({ storage }) => {
      const saver = await storage.getCheckpointer();
      const seven = 7 as unknown as string;
      await twoSteps(saver).invoke({ log: ["a"] }, threadConfig(seven));
      expect((await read(saver, "7"))?.["log"]).toEqual(logOf("a"));
      expect(await saver.threadSize(seven)).toBeGreaterThan(0);
      await saver.copyThread(seven, "copy");
      expect(await saver.prune({ thread_id: seven })).toMatchObject({ threads: 1 });
      await saver.setThreadTtl(seven, LATER_MS);
      await saver.deleteThread(seven);
      expect(await read(saver, "7")).toBeUndefined();
      expect((await read(saver, "copy"))?.["log"]).toEqual(logOf("a"));
    });

    test("is refused where its text would be that of another one too", async ({ storage }) => {
      const saver = await storage.getCheckpointer();
      const refused = {
        code: "validation_failed",
        message: expect.stringContaining("thread_id must be a text or a number"),
      };
      for (const value of [{ user: 1 }, ["a"], true, Number.NaN, Symbol("s")]) {
        const id = value as unknown as string;
        await expect(twoSteps(saver).invoke({ log: ["a"] }, threadConfig(id))).rejects.toMatchObject(refused);
        await expect(listed(saver, threadConfig(id))).rejects.toMatchObject(refused);
        await expect(saver.deleteThread(id)).rejects.toMatchObject(refused);
        await expect(saver.prune({ thread_id: id })).rejects.toMatchObject(refused);
      }
      await put(saver, "t", { n: 1 });
      for (const to of ["", "x".repeat(256)]) {
        await expect(saver.copyThread("t", to)).rejects.toMatchObject({ code: "validation_failed" });
      }
      const misspelt = saver.copyThread("t", "copy", { checkpointId: "c" } as object);
      await expect(misspelt).rejects.toMatchObject({ code: "validation_failed" });
      expect(await read(saver, "copy")).toBeUndefined();
    });
  });
}

function lifetimes(test: (name: string, body: Parameters<typeof withStorage>[1]) => void): void {
  describe("sweepExpired", () => {
    test("removes the threads whose time is over, and only those", async ({ storage, second }) => {
      const saver = await storage.getCheckpointer();
      const other = await elsewhere(storage, second);
      for (const id of ["now", "later", "always", "changed"]) await put(saver, id, { id });
      await saver.setThreadTtl("now", 0);
      await saver.setThreadTtl("later", LATER_MS);
      await saver.setThreadTtl("changed", 0);
      await saver.setThreadTtl("changed", null);
      expect(await other.sweepExpired()).toEqual(["now"]);
      expect(await other.sweepExpired()).toEqual([]);
      expect(await read(saver, "now")).toBeUndefined();
      for (const id of ["later", "always", "changed"]) expect(await read(saver, id)).toEqual({ id });
      await expect(put(saver, "now", { late: true })).rejects.toMatchObject({ code: "thread_deleted" });
      await expect(saver.setThreadTtl("none", 1)).rejects.toMatchObject({ code: "thread_not_found" });
      for (const ttl of [-1, 1.5, Number.NaN, 1e300]) {
        await expect(saver.setThreadTtl("always", ttl)).rejects.toMatchObject({ code: "validation_failed" });
      }
      expect(await other.sweepExpired()).toEqual([]);
    });

    test("never one with a live lease", async ({ storage }) => {
      const saver = await storage.getCheckpointer();
      const { id: session_id, thread_id } = await storage.createSession({});
      await storage.createRun({ session_id });
      const lease = await claim(storage);
      await put(saver, thread_id, { n: 1 }, { configurable: { [LEASE]: { ...lease } } });
      await saver.setThreadTtl(thread_id, 0);
      expect(await saver.sweepExpired()).toEqual([]);
      await storage.releaseRun(lease);
      expect(await saver.sweepExpired()).toEqual([thread_id]);
    });

    test("a time that was set runs out by itself", async ({ storage }) => {
      const saver = await storage.getCheckpointer();
      await put(saver, "t", { n: 1 });
      await saver.setThreadTtl("t", LATER_MS);
      expect(await saver.sweepExpired()).toEqual([]);
      await saver.setThreadTtl("t", 1);
      const swept = await until("the thread's end", async () => {
        const ids = await saver.sweepExpired();
        return ids.length > 0 ? ids : undefined;
      });
      expect(swept).toEqual(["t"]);
    });
  });
}
