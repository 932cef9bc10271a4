import type { Message } from "@cognition/contract";
import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { describe, expect, it, vi } from "vitest";
import { LEASE, type WriterLease } from "../checkpoint/lease.ts";
import { threadConfig, twoSteps } from "./checkpoint-graph.ts";
import { elsewhere, listed, type Point, put, read } from "./checkpoint-line.ts";
import { collect } from "./collect.ts";
import type { OpenStorage } from "./open-storage-fixture.ts";
import { claim, endOf, idsOf, LEASE_MS, NO_TIME, readAll, startRun, token, upTo } from "./started-run.ts";
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

    test("may tell of each checkpoint: those it does not pass are durable when put, with all before them", async (t) => {
      const { storage, second } = t;
      const { lease } = await startRun(storage);
      const saver = await storage.getCheckpointer();
      const other = await elsewhere(storage, second);
      const isThere = async (point: Point) => (await other.getTuple(point.config)) !== undefined;
      const committed = vi.fn();
      const writer: WriterLease = {
        ...lease,
        pipelined: ({ channel_values }) => channel_values["n"] !== 2,
        takeEvents: () => [token("a")],
        committed,
      };
      const configurable = { [LEASE]: writer };
      const held = ({ config }: Point) => ({ configurable: { ...config.configurable, ...configurable } });
      const one = await put(saver, lease.thread_id, { n: 1 }, { configurable });
      await saver.putWrites(held(one), [["n", 2]], "task");
      expect(committed).not.toHaveBeenCalled();
      const two = await put(saver, one, { n: 2 }, { configurable });
      expect([await isThere(one), await isThere(two)]).toEqual([true, true]);
      expect((await other.getTuple(one.config))?.pendingWrites).toEqual([["task", "n", 2]]);
      const inner = { checkpoint_ns: "inner:1", ...configurable };
      const within = await put(saver, lease.thread_id, { n: 1 }, { configurable: inner });
      expect(await isThere(within)).toBe(true);
      committed.mockClear();
      const three = await put(saver, two, { n: 3 }, { configurable });
      expect(committed).not.toHaveBeenCalled();
      await saver.flush(lease.thread_id, writer);
      expect(await isThere(three)).toBe(true);
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

    test("ends with its last step: both are there, or neither is", async ({ storage, second }) => {
      const { session_id, lease } = await startRun(storage);
      const saver = await storage.getCheckpointer();
      const takeEvents: WriterLease["takeEvents"] = ({ step }) => [token(`${step}`)];
      const writer: WriterLease = { ...lease, pipelined: true, takeEvents };
      const configurable = { [LEASE]: writer };
      const [asked, answer] = [new HumanMessage({ id: "q", content: "?" }), new AIMessage({ id: "a", content: "42" })];
      const first = await put(saver, lease.thread_id, { messages: [asked] }, { configurable, step: 1 });
      await put(saver, first, { messages: [asked, answer] }, { configurable, step: 2 });
      const said = vi.fn((last: Message | null) => ({ done: { message_id: last?.id ?? null, assistant_data: last } }));
      const live = collect(storage.followEvents({ session_id, after: 0 }), (taken) => taken.length === 4);
      const { run } = await storage.finishRun(writer, { ...endOf("succeeded", token("3")), withLastWord: said });
      const [, last] = await storage.listMessagesForSession(session_id);
      expect(last).toMatchObject({ id: "a", content: "42", role: "assistant", run_id: lease.run_id });
      expect(said).toHaveBeenCalledExactlyOnceWith(last);
      const events = await readAll(storage, session_id);
      expect(idsOf(events)).toEqual(upTo(4));
      expect(events.map(({ data }) => (data as { content?: string }).content)).toEqual(["1", "2", "3", undefined]);
      expect(events.at(-1)?.data).toEqual({
        ...{ run_id: run.id, status: "succeeded" },
        ...{ message_id: "a", assistant_data: last },
      });
      expect(await live).toEqual(events);
      const head = (await (await elsewhere(storage, second)).getTuple(threadConfig(lease.thread_id)))?.checkpoint.id;
      expect(run).toMatchObject({ status: "succeeded", checkpoint_id: head });
      const next = await storage.createRun({ session_id, claim: { owner: "worker", lease_ms: LEASE_MS } });
      expect(next.claimed?.epoch).toBeGreaterThan(lease.epoch);
    });

    test("does not end when it was taken over", async ({ storage }) => {
      const { id: session_id } = await storage.createSession({});
      await storage.createRun({ session_id });
      const old = await claim(storage, { lease_ms: NO_TIME });
      const saver = await storage.getCheckpointer();
      const writer: WriterLease = { ...old, pipelined: true };
      await put(saver, old.thread_id, { n: 1 }, { configurable: { [LEASE]: writer } });
      const now = await claim(storage);
      const stale = { code: "stale_epoch" };
      await expect(storage.finishRun(writer, endOf("succeeded"))).rejects.toMatchObject(stale);
      await expect(storage.finishRun(writer, endOf("succeeded"))).rejects.toMatchObject(stale);
      expect(await storage.getRun(old.run_id)).toEqual(now.run);
      expect(await saver.getTuple(threadConfig(old.thread_id))).toBeUndefined();
      await storage.finishRun(now, endOf("succeeded"));
    });

    test("begins tool calls with the step that asks for them, not before", async ({ storage, second }) => {
      const { lease } = await startRun(storage);
      const saver = await storage.getCheckpointer();
      const committed = vi.fn();
      const writer: WriterLease = { ...lease, pipelined: true, takeEvents: () => [token("a")], committed };
      const configurable = { [LEASE]: writer };
      const call = { checkpoint_ns: "", name: "bash", args: {}, on_crash: "never" } as const;
      const begin = async (id: string, thread_id = lease.thread_id) => {
        const intent = { ...call, thread_id, tool_call_id: id, lease: writer };
        const { state } = await storage.beginToolCall(intent);
        return [state, committed.mock.calls.length];
      };
      const step = await put(saver, lease.thread_id, { n: 1 }, { configurable });
      expect(await Promise.all([begin("one"), begin("two")])).toEqual([
        ["started", 1],
        ["started", 1],
      ]);
      expect(await read(await elsewhere(storage, second), lease.thread_id)).toEqual({ n: 1 });
      await put(saver, step, { n: 2 }, { configurable });
      await expect(begin("one")).rejects.toMatchObject({ code: "tool_call_started" });
      expect(await begin("three")).toEqual(["started", 2]);
      const two = { thread_id: lease.thread_id, checkpoint_ns: "", tool_call_id: "two" };
      await storage.finishToolCall(two, writer, { outcome: "ok", result: 1 });
      await put(saver, step, { n: 3 }, { configurable });
      expect(await begin("two")).toEqual(["finished", 3]);
      await put(saver, step, { n: 4 }, { configurable });
      const foreign = begin("four", (await storage.createSession({})).thread_id);
      await expect(foreign).rejects.toMatchObject({ code: "stale_epoch" });
      const ids = (await storage.listToolCalls(lease.run_id)).map(({ tool_call_id }) => tool_call_id);
      expect(ids).toEqual(["one", "two", "three"]);
    });

    test("begins no tool call without the step that asks for it", async ({ storage }) => {
      const { id: session_id } = await storage.createSession({});
      await storage.createRun({ session_id });
      const old = await claim(storage, { lease_ms: NO_TIME });
      const saver = await storage.getCheckpointer();
      const writer: WriterLease = { ...old, pipelined: true };
      await put(saver, old.thread_id, { n: 1 }, { configurable: { [LEASE]: writer } });
      await claim(storage);
      const intent = { thread_id: old.thread_id, checkpoint_ns: "", tool_call_id: "call", lease: writer };
      const begin = () => storage.beginToolCall({ ...intent, name: "bash", args: {}, on_crash: "never" });
      await expect(begin()).rejects.toMatchObject({ code: "stale_epoch" });
      await expect(begin()).rejects.toMatchObject({ code: "stale_epoch" });
      expect(await storage.listToolCalls(old.run_id)).toEqual([]);
      expect(await saver.getTuple(threadConfig(old.thread_id))).toBeUndefined();
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
