import { describe, expect, it } from "vitest";
import type { OpenStorage } from "./open-storage-fixture.ts";
import { claim, endOf, LEASE_MS, NO_TIME, readAll, startRun } from "./started-run.ts";
import { withStorage } from "./with-storage.ts";

export function runAbortContract(open: OpenStorage): void {
  const test = (name: string, body: Parameters<typeof withStorage>[1]) => it(name, withStorage(open, body));

  describe("requestAbort", () => {
    test("marks the running run for its owner and ends those that wait, each with its done", async ({ storage }) => {
      const { session_id, lease } = await startRun(storage);
      const [one, two] = [await storage.createRun({ session_id }), await storage.createRun({ session_id })];
      const aborted = await storage.requestAbort(session_id);
      expect(aborted).toEqual({ ended: [one.run.id, two.run.id], marked: [lease.run_id] });
      expect(await storage.getRun(lease.run_id)).toMatchObject({ status: "running" });
      const ended = await storage.getRun(one.run.id);
      expect(ended).toMatchObject({ status: "aborted", finished_at: expect.stringMatching(/Z$/), started_at: null });
      const events = await readAll(storage, session_id);
      expect(events.map(({ event, run_id }) => [event, run_id])).toEqual([
        ["status", one.run.id],
        ["done", one.run.id],
        ["status", two.run.id],
        ["done", two.run.id],
      ]);
      expect(events[1]?.data).toEqual({
        run_id: one.run.id,
        status: "aborted",
        assistant_data: null,
        message_id: null,
      });
      expect(await storage.requestAbort(session_id)).toEqual({ ended: [], marked: [lease.run_id] });
      await storage.finishRun(lease, endOf("aborted"));
      expect(await storage.requestAbort(session_id)).toEqual({ ended: [], marked: [] });
    });

    test("the next owner of a marked run is told", async ({ storage }) => {
      const { id: session_id } = await storage.createSession({});
      await storage.createRun({ session_id });
      expect(await claim(storage, { lease_ms: NO_TIME })).toMatchObject({ abort_requested: false });
      await storage.requestAbort(session_id);
      expect(await claim(storage)).toMatchObject({ abort_requested: true });
    });

    test("a run that was handed back in its middle is left to whoever claims it next", async ({ storage }) => {
      const { session_id, lease } = await startRun(storage);
      await storage.releaseRun(lease);
      expect(await storage.requestAbort(session_id)).toEqual({ ended: [], marked: [lease.run_id] });
      expect(await storage.getRun(lease.run_id)).toMatchObject({ status: "queued" });
      expect(await claim(storage)).toMatchObject({ run_id: lease.run_id, abort_requested: true });
    });

    test("frees a session that waits for a human, and the outbox gets its row", async ({ storage }) => {
      const { id: session_id } = await storage.createSession({});
      await storage.createRun({ session_id, callback_url: "https://example.com/", input: { kind: "a" } });
      const lease = await claim(storage);
      expect(lease.callback_url).toBe("https://example.com/");
      await storage.suspendRun(lease, []);
      const aborted = await storage.requestAbort(session_id, lease.run_id, (run, input, url) => {
        expect(run).toMatchObject({ id: lease.run_id, status: "aborted" });
        expect(input).toEqual({ kind: "a" });
        return { url: url ?? "", payload: { status: "aborted" } };
      });
      expect(aborted).toEqual({ ended: [lease.run_id], marked: [] });
      expect(await storage.getSession(session_id)).toMatchObject({ status: "active", active_run_id: null });
      expect(await storage.listDeliveries({ session_id })).toMatchObject([
        { url: "https://example.com/", status: "pending" },
      ]);
    });

    test("tells what became of the calls that a run which waits was in, before its end", async ({ storage }) => {
      const { session_id, lease } = await startRun(storage);
      const call = (id: string, name: string, agent = {}) => ({
        event: "tool_call" as const,
        data: { id, name, args: {}, ...agent },
      });
      const result = { tool_call_id: "c1", output: "", exit_code: null, outcome: "ok" };
      const events = [
        ...[call("c1", "ls"), call("t1", "task"), call("c1", "launch", { agent: "helper" })],
        { event: "tool_result" as const, data: result },
        call("c2", "ask"),
        call("c2", "launch", { agent: "helper" }),
      ];
      await storage.appendEvents({ session_id, lease, events });
      for (const tool_call_id of ["c1", "c2"]) {
        const key = { thread_id: lease.thread_id, checkpoint_ns: "tools:1|tools:2", tool_call_id };
        await storage.beginToolCall({ ...key, lease, name: "launch", args: {}, on_crash: "ask" });
      }
      await storage.suspendRun(lease, []);
      await storage.requestAbort(session_id);
      const told = (await readAll(storage, session_id)).slice(events.length).map(({ event, data }) => [event, data]);
      const run_id = lease.run_id;
      const output = expect.stringMatching(/./);
      expect(told).toMatchObject([
        ["tool_result", { run_id, tool_call_id: "t1", outcome: "aborted", output }],
        ["tool_result", { run_id, agent: "helper", tool_call_id: "c1", outcome: "unknown", output }],
        ["tool_result", { run_id, tool_call_id: "c2", outcome: "aborted", output }],
        ["tool_result", { run_id, agent: "helper", tool_call_id: "c2", outcome: "unknown", output }],
        ["status", { status: "idle" }],
        ["done", { status: "aborted" }],
      ]);
      const unknown = { status: "unknown", result: null, finished_at: expect.stringMatching(/Z$/) };
      expect(await storage.listToolCalls(run_id)).toMatchObject([unknown, unknown]);
    });

    test("one of them that a later attempt has taken back is told with its result", async ({ storage }) => {
      const { session_id, lease } = await startRun(storage);
      const call = { id: "c1", name: "launch", args: {}, agent: "helper" };
      const events = [
        { event: "tool_call" as const, data: call },
        { event: "status" as const, data: { status: "resuming", attempt: 2, discard_after: 0 } },
      ];
      await storage.appendEvents({ session_id, lease, events });
      await storage.suspendRun(lease, []);
      await storage.requestAbort(session_id);
      const told = (await readAll(storage, session_id)).slice(events.length).map(({ event, data }) => [event, data]);
      expect(told).toMatchObject([
        ["tool_call", call],
        ["tool_result", { agent: "helper", tool_call_id: "c1", outcome: "aborted" }],
        ["status", { status: "idle" }],
        ["done", { status: "aborted" }],
      ]);
    });

    test("one run only, when named; never another session's", async ({ storage }) => {
      const { session_id, lease } = await startRun(storage);
      const { run } = await storage.createRun({ session_id });
      const other = await startRun(storage);
      const foreign = storage.requestAbort(session_id, other.lease.run_id);
      await expect(foreign).rejects.toMatchObject({ code: "run_not_found" });
      await expect(storage.requestAbort("none")).rejects.toMatchObject({ code: "session_not_found" });
      expect(await storage.requestAbort(session_id, run.id)).toEqual({ ended: [run.id], marked: [] });
      expect(await storage.requestAbort(session_id, run.id)).toEqual({ ended: [], marked: [] });
      expect(await storage.requestAbort(session_id, lease.run_id)).toEqual({ ended: [], marked: [lease.run_id] });
    });

    test("racing with claims, every run is either ended or claimed, and ends once", async ({ storage, second }) => {
      const other = second ? await second() : storage;
      const sessions = await Promise.all(Array.from({ length: 10 }, () => storage.createSession({})));
      await Promise.all(sessions.map(({ id }) => storage.createRun({ session_id: id })));
      const claims = sessions.map(() => storage.claimRun({ owner: "w", lease_ms: LEASE_MS }));
      const aborts = sessions.map(({ id }) => other.requestAbort(id));
      const claimed = (await Promise.all(claims)).filter((lease) => lease !== null);
      const ended = (await Promise.all(aborts)).flatMap((abort) => abort.ended);
      const left = (await Promise.all(sessions.map(() => claimIfAny()))).filter((lease) => lease !== null);
      expect(claimed.length + ended.length + left.length).toBe(10);
      for (const lease of [...claimed, ...left]) await storage.finishRun(lease, endOf("aborted"));
      for (const { id } of sessions) {
        const events = await readAll(storage, id);
        expect(events.filter(({ event }) => event === "done")).toHaveLength(1);
      }

      function claimIfAny() {
        return storage.claimRun({ owner: "late", lease_ms: LEASE_MS });
      }
    });
  });
}
