import { describe, expect, it } from "vitest";
import type { NewEvent } from "../event-log.ts";
import type { Storage } from "../storage.ts";
import type { OpenStorage } from "./open-storage-fixture.ts";
import { claim, endOf, idsOf, LEASE_MS, readAll, startRun, token, upTo } from "./started-run.ts";
import { withStorage } from "./with-storage.ts";

const TOMORROW = () => new Date(Date.now() + 86_400_000);
const TOOL_CALL: NewEvent = { event: "tool_call", data: { id: "c", name: "n", args: {} } };

function reasoning(content: string, message_id: string): NewEvent {
  return { event: "reasoning", data: { content, message_id } };
}

/** One whose two tokens can be folded into one. */
async function finishRun(storage: Storage, session_id: string): Promise<void> {
  const { claimed } = await storage.createRun({ session_id, claim: { owner: "worker", lease_ms: LEASE_MS } });
  if (!claimed) throw new Error("a run of a free session was not begun");
  await storage.finishRun(claimed, endOf("succeeded", token("a"), token("b")));
}

export function eventCompactionContract(open: OpenStorage): void {
  const test = (name: string, body: Parameters<typeof withStorage>[1]) => it(name, withStorage(open, body));

  describe("compactEvents", () => {
    test("folds each message's text into one event that keeps the last id", async ({ storage, reopen }) => {
      const { session_id, lease } = await startRun(storage);
      const run_id = lease.run_id;
      const events = [
        reasoning("think", "m1"), // 1
        reasoning("ing", "m1"), // 2
        token("Hel", "m1"), // 3
        token("lo", "m1"), // 4
        TOOL_CALL, // 5
        token("a", "m2"), // 6
        token("1", "sub"), // 7
        token("b", "m2"), // 8
        token("2", "sub"), // 9
        token("alone", "m3"), // 10
      ];
      await storage.appendEvents({ session_id, lease, events });
      await storage.finishRun(lease, endOf("succeeded")); // 11
      expect(await storage.compactEvents(TOMORROW())).toEqual({ runs: 1, folded: 4 });
      const after = reopen ? await reopen() : storage;
      const { events: left, folded } = await after.readEvents({ session_id });
      expect(folded).toBe(4);
      expect(left.map(({ id, event, data }) => ({ id, event, data }))).toMatchObject([
        { id: 2, event: "reasoning", data: { run_id, message_id: "m1", content: "thinking", folded_from: 1 } },
        { id: 4, event: "token", data: { run_id, message_id: "m1", content: "Hello", folded_from: 3 } },
        { id: 5, event: "tool_call", data: TOOL_CALL.data },
        { id: 8, event: "token", data: { message_id: "m2", content: "ab", folded_from: 6 } },
        { id: 9, event: "token", data: { message_id: "sub", content: "12", folded_from: 7 } },
        { id: 10, event: "token", data: { message_id: "m3", content: "alone" } },
        { id: 11, event: "done" },
      ]);
      expect(left[5]?.data).not.toHaveProperty("folded_from");
      expect(await after.lastEventId(session_id)).toBe(11);
      expect(await after.compactEvents(TOMORROW())).toEqual({ runs: 0, folded: 0 });
      expect(await after.readEvents({ session_id, after: 4 })).toMatchObject({ folded: 2 });
      expect(await after.appendEvents({ session_id, events: [TOOL_CALL] })).toMatchObject([{ id: 12 }]);
    });

    test("only runs that ended before then; what runs or waits is left alone", async ({ storage }) => {
      const ended = await startRun(storage);
      const running = await startRun(storage);
      const waiting = await startRun(storage);
      for (const { session_id, lease } of [ended, running, waiting]) {
        await storage.appendEvents({ session_id, lease, events: [token("a"), token("b")] });
      }
      const { run } = await storage.finishRun(ended.lease, endOf("succeeded"));
      await storage.suspendRun(waiting.lease, []);
      const end = new Date(run.finished_at ?? "");
      expect(await storage.compactEvents(end)).toEqual({ runs: 0, folded: 0 });
      expect(await storage.compactEvents(new Date(end.getTime() + 1))).toEqual({ runs: 1, folded: 1 });
      for (const { session_id } of [running, waiting])
        expect(idsOf(await readAll(storage, session_id))).toEqual([1, 2]);
    });

    test("passes over the runs of a thread that was deleted, however many", async ({ storage }) => {
      const session = await storage.createSession({});
      for (const _ of upTo(100)) await finishRun(storage, session.id);
      const kept = await storage.createSession({});
      await finishRun(storage, kept.id);
      const saver = await storage.getCheckpointer();
      await saver.deleteThread(session.thread_id);
      expect(await storage.compactEvents(TOMORROW())).toEqual({ runs: 1, folded: 1 });
    });

    test("ends before the next run once its signal has aborted", async ({ storage }) => {
      const { id } = await storage.createSession({});
      await finishRun(storage, id);
      const stop = new AbortController();
      stop.abort();
      expect(await storage.compactEvents(TOMORROW(), stop)).toEqual({ runs: 0, folded: 0 });
      expect(await storage.compactEvents(TOMORROW())).toEqual({ runs: 1, folded: 1 });
    });

    test("text before and after a restart is not joined", async ({ storage }) => {
      const { session_id, lease } = await startRun(storage);
      const resuming: NewEvent = { event: "status", data: { status: "resuming", discard_after: 0 } };
      const events = [token("vo"), token("id"), resuming, token("va"), token("lid")];
      await storage.appendEvents({ session_id, lease, events });
      await storage.finishRun(lease, endOf("succeeded"));
      await storage.compactEvents(TOMORROW());
      const left = await readAll(storage, session_id);
      expect(idsOf(left)).toEqual([2, 3, 5, 6]);
      expect(left.map(({ data }) => (data as { content?: string }).content)).toEqual([
        "void",
        undefined,
        "valid",
        undefined,
      ]);
    });

    test("text that names no message is joined with its neighbours only", async ({ storage }) => {
      const { session_id, lease } = await startRun(storage);
      const text = (content: string): NewEvent => ({ event: "token", data: { content } });
      await storage.appendEvents({
        session_id,
        lease,
        events: [text("a"), text("b"), TOOL_CALL, text("c"), text("d")],
      });
      await storage.finishRun(lease, endOf("succeeded"));
      await storage.compactEvents(TOMORROW());
      const left = await readAll(storage, session_id);
      expect(idsOf(left)).toEqual([2, 3, 5, 6]);
    });

    test("text of two agents is not joined, though it names no message", async ({ storage }) => {
      const { session_id, lease } = await startRun(storage);
      const text = (content: string, agent?: string): NewEvent => ({
        event: "token",
        data: { content, ...(agent !== undefined && { agent }) },
      });
      const events = [text("a"), text("b", "helper"), text("c", "helper"), text("d")];
      await storage.appendEvents({ session_id, lease, events });
      await storage.finishRun(lease, endOf("succeeded"));
      await storage.compactEvents(TOMORROW());
      const left = (await readAll(storage, session_id)).slice(0, -1);
      expect(left.map(({ id, data }) => [id, (data as { content: string }).content])).toEqual([
        [1, "a"],
        [3, "bc"],
        [4, "d"],
      ]);
    });

    test("two at once fold each run once, while others write", async ({ storage, second }) => {
      const other = second ? await second() : storage;
      const { id: session_id } = await storage.createSession({});
      for (const n of upTo(8)) {
        await storage.createRun({ session_id });
        const lease = await claim(storage);
        await storage.finishRun(lease, endOf("succeeded", ...upTo(4).map((part) => token(`${n}.${part} `))));
      }
      await storage.createRun({ session_id });
      const lease = await claim(storage);
      const writes = upTo(10).map(() => storage.appendEvents({ session_id, lease, events: [token("live")] }));
      const compactions = await Promise.all([storage.compactEvents(TOMORROW()), other.compactEvents(TOMORROW())]);
      await Promise.all(writes);
      expect(compactions.reduce((sum, { runs }) => sum + runs, 0)).toBe(8);
      expect(compactions.reduce((sum, { folded }) => sum + folded, 0)).toBe(24);
      const left = await readAll(storage, session_id);
      expect(left.filter(({ run_id }) => run_id === lease.run_id)).toHaveLength(10);
      const texts = left.flatMap(({ event, data }) =>
        event === "token" && "folded_from" in data ? [data.content] : [],
      );
      expect(texts).toEqual(
        upTo(8).map((n) =>
          upTo(4)
            .map((part) => `${n}.${part} `)
            .join(""),
        ),
      );
    });
  });
}
