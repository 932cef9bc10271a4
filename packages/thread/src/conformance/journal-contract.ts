import { describe, expect, it } from "vitest";
import type { Lease } from "../run-store.ts";
import type { Storage } from "../storage.ts";
import type { ToolCallIntent, ToolCallKey } from "../tool-journal.ts";
import { LONG_TEXT, ODD_TEXTS } from "./odd-text.ts";
import type { OpenStorage } from "./open-storage-fixture.ts";
import { claim, endOf, NO_TIME, upTo } from "./started-run.ts";
import { withStorage } from "./with-storage.ts";

interface Journaled {
  session_id: string;
  lease: Lease;
  key: ToolCallKey;
  intent(change?: Partial<ToolCallIntent>): ToolCallIntent;
}

async function startJournal(storage: Storage, lease_ms?: number): Promise<Journaled> {
  const { id: session_id, thread_id } = await storage.createSession({});
  await storage.createRun({ session_id });
  const { run_id, epoch } = await claim(storage, { session_id, ...(lease_ms !== undefined && { lease_ms }) });
  const lease = { run_id, epoch };
  const key = { thread_id, checkpoint_ns: "", tool_call_id: "call_1" };
  return {
    session_id,
    lease,
    key,
    intent: (change) => ({ ...key, lease, name: "bash", args: { c: 1 }, on_crash: "never", ...change }),
  };
}

export function journalContract(open: OpenStorage): void {
  const test = (name: string, body: Parameters<typeof withStorage>[1]) => it(name, withStorage(open, body));

  describe("the tool journal", () => {
    test("an intent is recorded before the tool starts, its result after", async ({ storage, reopen }) => {
      const { lease, key, intent } = await startJournal(storage);
      const begun = await storage.beginToolCall(intent());
      expect(begun).toEqual({ state: "started", attempt: 1, idempotency_key: expect.stringMatching(/\S{16}/) });
      const [open] = await storage.listToolCalls(lease.run_id);
      expect(open).toMatchObject({ tool_call_id: "call_1", checkpoint_ns: "", run_id: lease.run_id, name: "bash" });
      expect(open).toMatchObject({ args: { c: 1 }, status: "started", attempt: 1, result: null, finished_at: null });
      await storage.finishToolCall(key, lease, { outcome: "ok", result: { out: "x" } });
      const after = reopen ? await reopen() : storage;
      expect(await after.listToolCalls(lease.run_id)).toMatchObject([
        { status: "ok", result: { out: "x" }, created_at: open?.created_at, finished_at: expect.stringMatching(/Z$/) },
      ]);
      expect(await after.beginToolCall(intent())).toEqual({ state: "finished", outcome: "ok", result: { out: "x" } });
    });

    test("every outcome is given back as it was", async ({ storage }) => {
      const { lease, key, intent } = await startJournal(storage);
      for (const outcome of ["ok", "error", "denied", "aborted", "unknown"] as const) {
        const call = { tool_call_id: outcome };
        await storage.beginToolCall(intent(call));
        await storage.finishToolCall({ ...key, ...call }, lease, { outcome, result: null });
        expect(await storage.beginToolCall(intent(call))).toEqual({ state: "finished", outcome, result: null });
      }
      const listed = await storage.listToolCalls(lease.run_id);
      expect(listed.map(({ status }) => status)).toEqual(["ok", "error", "denied", "aborted", "unknown"]);
    });

    test("the same id in another namespace or on another thread is another call", async ({ storage }) => {
      const one = await startJournal(storage);
      const other = await startJournal(storage);
      const intents = [one.intent(), one.intent({ checkpoint_ns: "tools:1" }), other.intent()];
      const begun = await Promise.all(intents.map((intent) => storage.beginToolCall(intent)));
      expect(begun.map(({ state }) => state)).toEqual(["started", "started", "started"]);
      expect(new Set(begun.map((state) => JSON.stringify(state))).size).toBe(3);
      await storage.finishToolCall(one.key, one.lease, { outcome: "ok", result: 1 });
      // Of two that are begun at once, either may come first.
      const ofOne = await storage.listToolCalls(one.lease.run_id);
      const left = [
        ...ofOne.toSorted((a, b) => a.checkpoint_ns.length - b.checkpoint_ns.length),
        ...(await storage.listToolCalls(other.lease.run_id)),
      ];
      const ends = left.map(({ checkpoint_ns, status, result }) => [checkpoint_ns, status, result]);
      expect(ends).toEqual([
        ["", "ok", 1],
        ["tools:1", "started", null],
        ["", "started", null],
      ]);
    });

    test("after a crash a recorded result is used, whatever the tool says about crashes", async ({ storage }) => {
      const { lease, key, intent, session_id } = await startJournal(storage, NO_TIME);
      await storage.beginToolCall(intent({ on_crash: "retry" }));
      await storage.finishToolCall(key, lease, { outcome: "error", result: "no" });
      const next = await claim(storage, { session_id });
      const again = await storage.beginToolCall(intent({ on_crash: "retry", lease: next }));
      expect(again).toEqual({ state: "finished", outcome: "error", result: "no" });
    });

    test("after a crash a call without result: retry starts again under the same key", async ({ storage }) => {
      const { session_id, key, intent } = await startJournal(storage, NO_TIME);
      const first = await storage.beginToolCall(intent({ on_crash: "retry" }));
      const second = await claim(storage, { session_id, lease_ms: NO_TIME });
      const again = await storage.beginToolCall(intent({ on_crash: "retry", lease: second }));
      expect(again).toEqual({ ...first, attempt: 2 });
      const third = await claim(storage, { session_id });
      expect(await storage.beginToolCall(intent({ on_crash: "retry", lease: third }))).toEqual({
        ...first,
        attempt: 3,
      });
      const twice = storage.beginToolCall(intent({ on_crash: "retry", lease: third }));
      await expect(twice).rejects.toMatchObject({ code: "tool_call_started" });
      await storage.finishToolCall(key, third, { outcome: "ok", result: 1 });
      expect(await storage.listToolCalls(third.run_id)).toMatchObject([{ attempt: 3, status: "ok" }]);
    });

    test("a call that the next run starts again is that run's", async ({ storage }) => {
      const { session_id, lease, key, intent } = await startJournal(storage);
      await storage.beginToolCall(intent({ on_crash: "retry" }));
      await storage.finishRun(lease, endOf("failed"));
      await storage.createRun({ session_id, resumes: lease.run_id });
      const next = await claim(storage, { session_id });
      await storage.beginToolCall(intent({ on_crash: "retry", lease: next }));
      expect(await storage.listToolCalls(lease.run_id)).toEqual([]);
      expect(await storage.listToolCalls(next.run_id)).toMatchObject([
        { tool_call_id: key.tool_call_id, attempt: 2, status: "started" },
      ]);
    });

    test("a call that was stopped and has no result is started again by the next run, if it may be retried", async ({
      storage,
    }) => {
      for (const outcome of ["aborted", "unknown"] as const) {
        const { session_id, lease, key, intent } = await startJournal(storage);
        const calls = (["retry", "never", "ask"] as const).map((on_crash) => ({ tool_call_id: on_crash, on_crash }));
        for (const call of calls) {
          await storage.beginToolCall(intent(call));
          await storage.finishToolCall({ ...key, ...call }, lease, { outcome, result: null });
          expect(await storage.beginToolCall(intent(call))).toMatchObject({ state: "finished", outcome });
        }
        await storage.finishRun(lease, endOf("aborted"));
        await storage.createRun({ session_id, resumes: lease.run_id });
        const next = await claim(storage, { session_id });
        const again = await Promise.all(calls.map((call) => storage.beginToolCall(intent({ ...call, lease: next }))));
        expect(again).toMatchObject([
          { state: "started", attempt: 2 },
          { state: "finished", outcome, result: null },
          { state: "finished", outcome, result: null },
        ]);
        expect(await storage.listToolCalls(next.run_id)).toMatchObject([
          { tool_call_id: "retry", status: "started", result: null, finished_at: null },
        ]);
        await storage.finishToolCall({ ...key, tool_call_id: "retry" }, next, { outcome: "ok", result: 1 });
      }
    });

    test("after a crash a call without result: never and ask are unknown, until somebody says what became of it", async ({
      storage,
    }) => {
      for (const on_crash of ["never", "ask"] as const) {
        const { session_id, key, intent } = await startJournal(storage, NO_TIME);
        const begun = await storage.beginToolCall(intent({ on_crash }));
        const lease = await claim(storage, { session_id });
        const idempotency_key = begun.state === "started" ? begun.idempotency_key : undefined;
        const unknown = { state: "unknown", on_crash, idempotency_key };
        expect(await storage.beginToolCall(intent({ on_crash, lease }))).toEqual(unknown);
        expect(await storage.beginToolCall(intent({ on_crash, lease }))).toEqual(unknown);
        await storage.finishToolCall(key, lease, { outcome: "unknown", result: "check it" });
        const known = { state: "finished", outcome: "unknown", result: "check it" };
        expect(await storage.beginToolCall(intent({ on_crash, lease }))).toEqual(known);
      }
    });

    test("begun twice under one lease is the caller's mistake; of many at once one starts", async ({
      storage,
      second,
    }) => {
      const instances = [storage, second ? await second() : storage];
      const { intent } = await startJournal(storage);
      const begins = upTo(8).map((n) => instances[n % 2]?.beginToolCall(intent({ on_crash: "retry" })));
      const settled = await Promise.allSettled(begins);
      expect(settled.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
      for (const begin of settled) {
        if (begin.status === "rejected") expect(begin.reason).toMatchObject({ code: "tool_call_started" });
      }
    });

    test("an old epoch neither begins nor finishes nor withdraws", async ({ storage }) => {
      const { session_id, lease: dead, key, intent } = await startJournal(storage, NO_TIME);
      await storage.beginToolCall(intent());
      const lease = await claim(storage, { session_id });
      const stale = { code: "stale_epoch" };
      await expect(storage.beginToolCall(intent({ tool_call_id: "call_2" }))).rejects.toMatchObject(stale);
      await expect(storage.finishToolCall(key, dead, { outcome: "ok", result: 1 })).rejects.toMatchObject(stale);
      await expect(storage.withdrawToolCall(key, dead)).rejects.toMatchObject(stale);
      expect(await storage.listToolCalls(dead.run_id)).toMatchObject([{ status: "started", result: null }]);
      await storage.finishRun(lease, endOf("aborted"));
      const ended = { code: "run_ended" };
      await expect(storage.beginToolCall(intent({ lease }))).rejects.toMatchObject(ended);
      await expect(storage.finishToolCall(key, lease, { outcome: "ok", result: 1 })).rejects.toMatchObject(ended);
    });

    test("a lease of another thread is no lease, though its epoch be the same", async ({ storage }) => {
      const one = await startJournal(storage);
      const other = await startJournal(storage);
      expect(one.lease.epoch).toBe(other.lease.epoch);
      await expect(storage.beginToolCall(one.intent({ lease: other.lease }))).rejects.toMatchObject({
        code: "stale_epoch",
      });
      expect(await storage.listToolCalls(other.lease.run_id)).toEqual([]);
    });

    test("a result is recorded once: again is harmless, another one refused, none begun not found", async ({
      storage,
    }) => {
      const { lease, key, intent } = await startJournal(storage);
      const end = { outcome: "ok", result: { a: [1] } } as const;
      await expect(storage.finishToolCall(key, lease, end)).rejects.toMatchObject({ code: "tool_call_not_found" });
      await storage.beginToolCall(intent());
      await storage.finishToolCall(key, lease, end);
      await storage.finishToolCall(key, lease, end);
      for (const other of [{ outcome: "error", result: null } as const, { ...end, result: { a: [2] } }]) {
        await expect(storage.finishToolCall(key, lease, other)).rejects.toMatchObject({ code: "tool_call_ended" });
      }
      await expect(storage.withdrawToolCall(key, lease)).rejects.toMatchObject({ code: "tool_call_ended" });
      expect(await storage.listToolCalls(lease.run_id)).toMatchObject([{ status: "ok", result: { a: [1] } }]);
    });

    test("an intent that is taken back starts afresh, with the key it had", async ({ storage }) => {
      const { session_id, key, lease, intent } = await startJournal(storage);
      const begun = await storage.beginToolCall(intent());
      await storage.withdrawToolCall(key, lease);
      await storage.withdrawToolCall(key, lease);
      expect(await storage.listToolCalls(lease.run_id)).toEqual([]);
      await storage.suspendRun(lease, []);
      await storage.resumeRun(lease.run_id, "approved");
      const next = await claim(storage, { session_id });
      expect(await storage.beginToolCall(intent({ lease: next }))).toEqual(begun);
    });

    test("odd names, arguments and results come back as they went in; what has no JSON form is refused", async ({
      storage,
    }) => {
      const { lease, key, intent } = await startJournal(storage);
      const texts = [...ODD_TEXTS, LONG_TEXT, "nul \u0000"];
      for (const name of ODD_TEXTS) {
        const call = { tool_call_id: name, checkpoint_ns: name, name, args: { texts } };
        await storage.beginToolCall(intent(call));
        await storage.finishToolCall({ ...key, ...call }, lease, { outcome: "ok", result: texts });
        expect(await storage.beginToolCall(intent(call))).toEqual({ state: "finished", outcome: "ok", result: texts });
      }
      const listed = await storage.listToolCalls(lease.run_id);
      expect(listed.map(({ name, checkpoint_ns }) => [name, checkpoint_ns])).toEqual(
        ODD_TEXTS.map((text) => [text, text]),
      );
      const unfit = { code: "unserializable_value" };
      await expect(storage.beginToolCall(intent({ tool_call_id: "x", args: 1n }))).rejects.toMatchObject(unfit);
      await storage.beginToolCall(intent({ tool_call_id: "x" }));
      const bad = storage.finishToolCall({ ...key, tool_call_id: "x" }, lease, { outcome: "ok", result: 1n });
      await expect(bad).rejects.toMatchObject(unfit);
    });

    test("an id longer than an index takes names its call all the same, and comes back whole", async ({ storage }) => {
      const { lease, key, intent } = await startJournal(storage);
      const ids = ["a", "b"].map(
        (end) => `call_${Array.from({ length: 500 }, () => crypto.randomUUID()).join("")}${end}`,
      );
      for (const tool_call_id of ids) {
        await storage.beginToolCall(intent({ tool_call_id }));
        await storage.finishToolCall({ ...key, tool_call_id }, lease, { outcome: "ok", result: tool_call_id });
      }
      const listed = await storage.listToolCalls(lease.run_id);
      expect(listed).toMatchObject(ids.map((id) => ({ tool_call_id: id, args: { c: 1 }, result: id })));
      const [first = ""] = ids;
      const known = await storage.beginToolCall(intent({ tool_call_id: first }));
      expect(known).toMatchObject({ state: "finished", result: first });
    });

    test("goes with its session", async ({ storage }) => {
      const { session_id, lease, intent } = await startJournal(storage);
      await storage.beginToolCall(intent());
      await storage.deleteSession(session_id);
      expect(await storage.listToolCalls(lease.run_id)).toEqual([]);
      await expect(storage.beginToolCall(intent({ tool_call_id: "x" }))).rejects.toMatchObject({
        code: "run_not_found",
      });
    });
  });
}
