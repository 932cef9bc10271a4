import { describe, expect, it, vi } from "vitest";
import { LEASE, type WriterLease } from "../checkpoint/lease.ts";
import { threadConfig, twoSteps } from "./checkpoint-graph.ts";
import { elsewhere, listed, put, read } from "./checkpoint-line.ts";
import type { OpenStorage } from "./open-storage-fixture.ts";
import { claim, NO_TIME, readAll, startRun, token } from "./started-run.ts";
import { withoutUnhandledRejections } from "./unhandled-rejections.ts";
import { withStorage } from "./with-storage.ts";

/** A lease that does not wait for each of its checkpoints: `flush` says when they are there. */
export function checkpointPipelineContract(open: OpenStorage): void {
  const test = (name: string, body: Parameters<typeof withStorage>[1]) => it(name, withStorage(open, body));

  describe("a pipelined lease", () => {
    test("finds all of it in the database after a flush, in order, with its events", async ({ storage, second }) => {
      const { session_id, lease } = await startRun(storage);
      const saver = await storage.getCheckpointer();
      const other = await elsewhere(storage, second);
      const takeEvents: WriterLease["takeEvents"] = ({ step }) => [token(`${step}`)];
      const writer: WriterLease = { ...lease, pipelined: true, takeEvents };
      const configurable = { [LEASE]: writer };
      const first = await put(saver, lease.thread_id, { n: 1 }, { configurable, step: 1 });
      const held = { configurable: { ...first.config.configurable, ...configurable } };
      await saver.putWrites(held, [["n", 2]], "task");
      const events = saver.appendEvents(lease.thread_id, writer, [token("between")]);
      const last = await put(saver, first, { n: 2 }, { configurable, step: 2 });
      await saver.flush(lease.thread_id, writer);
      expect(await listed(other, threadConfig(lease.thread_id))).toEqual([last.checkpoint.id, first.checkpoint.id]);
      expect((await other.getTuple(first.config))?.pendingWrites).toEqual([["task", "n", 2]]);
      const contents = (await readAll(storage, session_id)).map(({ data }) => (data as { content: string }).content);
      expect(contents).toEqual(["1", "between", "2"]);
      await events;
      await saver.flush(lease.thread_id, writer);
    });

    test("stores what it was given without being asked", async ({ storage, second }) => {
      const { lease } = await startRun(storage);
      const saver = await storage.getCheckpointer();
      const committed = Promise.withResolvers<void>();
      const writer: WriterLease = {
        ...lease,
        pipelined: true,
        takeEvents: () => [token("a")],
        committed: () => committed.resolve(),
      };
      await put(saver, lease.thread_id, { n: 1 }, { configurable: { [LEASE]: writer } });
      await committed.promise;
      expect(await read(await elsewhere(storage, second), lease.thread_id)).toEqual({ n: 1 });
    });

    test("holds what was put, whatever becomes of the values afterwards", async ({ storage }) => {
      const { lease } = await startRun(storage);
      const saver = await storage.getCheckpointer();
      const writer: WriterLease = { ...lease, pipelined: true };
      const list = [{ n: 1 }];
      await put(saver, lease.thread_id, { list }, { configurable: { [LEASE]: writer } });
      (list[0] as { n: number }).n = 2;
      list.push({ n: 3 });
      await saver.flush(lease.thread_id, writer);
      expect(await read(saver, lease.thread_id)).toEqual({ list: [{ n: 1 }] });
    });

    test("reads its own writes, flushed or not", async ({ storage }) => {
      const { lease } = await startRun(storage);
      const saver = await storage.getCheckpointer();
      const configurable = { [LEASE]: { ...lease, pipelined: true } satisfies WriterLease };
      await put(saver, lease.thread_id, { n: 1 }, { configurable });
      const tuple = await saver.getTuple(threadConfig(lease.thread_id, configurable));
      expect(tuple?.checkpoint.channel_values).toEqual({ n: 1 });
    });

    test("that was taken over is told, stores nothing more, and the process survives", async ({ storage, second }) => {
      const { id: session_id } = await storage.createSession({});
      await storage.createRun({ session_id });
      const old = await claim(storage, { lease_ms: NO_TIME });
      await claim(storage);
      const saver = await storage.getCheckpointer();
      const lost = vi.fn();
      const writer: WriterLease = { ...old, pipelined: true, lost, takeEvents: () => [token("unseen")] };
      const configurable = { [LEASE]: writer };
      await withoutUnhandledRejections(async () => {
        const first = await put(saver, old.thread_id, { n: 1 }, { configurable });
        await expect(saver.flush(old.thread_id, writer)).rejects.toMatchObject({ code: "stale_epoch" });
        expect(lost).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ code: "stale_epoch" }));
        await expect(put(saver, first, { n: 2 }, { configurable })).rejects.toMatchObject({ code: "stale_epoch" });
        await expect(saver.flush(old.thread_id, writer)).rejects.toMatchObject({ code: "stale_epoch" });
      });
      expect(await (await elsewhere(storage, second)).getTuple(threadConfig(old.thread_id))).toBeUndefined();
      expect(await readAll(storage, session_id)).toEqual([]);
    });

    test("gives a graph the values it would have without", async ({ storage, second }) => {
      const { lease } = await startRun(storage);
      const saver = await storage.getCheckpointer();
      const writer: WriterLease = { ...lease, pipelined: true };
      const config = { ...threadConfig(lease.thread_id, { [LEASE]: writer }), durability: "sync" as const };
      const result = await twoSteps(saver).invoke({ log: ["a"] }, config);
      await saver.flush(lease.thread_id, writer);
      const plain = await twoSteps(saver).invoke({ log: ["a"] }, threadConfig("plain"));
      expect(result).toEqual(plain);
      const other = await elsewhere(storage, second);
      expect(await read(other, lease.thread_id)).toEqual(await read(other, "plain"));
    });
  });
}
