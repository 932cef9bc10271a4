import type { TokenUsage } from "@cognition/contract";
import { AIMessage } from "@langchain/core/messages";
import { describe, expect, it } from "vitest";
import { LEASE, type WriterLease } from "../checkpoint/lease.ts";
import type { RunEnd } from "../run-store.ts";
import { put } from "./checkpoint-line.ts";
import type { OpenStorage } from "./open-storage-fixture.ts";
import { claim, endOf, idsOf, LEASE_MS, NO_TIME, readAll, startRun, token, upTo } from "./started-run.ts";
import { withStorage } from "./with-storage.ts";

const USAGE: TokenUsage = {
  input_tokens: 1,
  output_tokens: 2,
  estimated_cost: 0.5,
  provider: "p",
  model: "m",
  by_model: { m: { input_tokens: 1, output_tokens: 2, estimated_cost: null } },
};

export function runEndContract(open: OpenStorage): void {
  const test = (name: string, body: Parameters<typeof withStorage>[1]) => it(name, withStorage(open, body));

  describe("finishRun", () => {
    test("state, events, outbox and session change together, and outlive a restart", async ({ storage, reopen }) => {
      const { session_id, lease } = await startRun(storage);
      const delivery = { url: "https://example.com/", payload: { status: "done" } };
      const error = { code: "model_failed", message: "it said no" } as const;
      const { run } = await storage.finishRun(lease, { ...endOf("failed", token("x")), usage: USAGE, error, delivery });
      expect(run).toMatchObject({ id: lease.run_id, status: "failed", usage: USAGE, error });
      expect(run.finished_at).not.toBeNull();
      const after = reopen ? await reopen() : storage;
      expect(await after.getRun(run.id)).toEqual(run);
      expect((await readAll(after, session_id)).map(({ event }) => event)).toEqual(["token", "done"]);
      expect(await after.listDeliveries({ session_id })).toMatchObject([{ run_id: run.id, payload: delivery.payload }]);
      expect(await after.getSession(session_id)).toMatchObject({ status: "error", active_run_id: null });
    });

    test("tells the run's last word as its row is, or that there is none", async ({ storage }) => {
      const { session_id, lease } = await startRun(storage);
      const url = "https://example.com/";
      const tell: NonNullable<RunEnd["withLastWord"]> = (last) => ({
        done: { message_id: last?.id ?? null, assistant_data: last },
        delivery: { url, payload: { output: last?.content ?? null } },
      });
      await storage.createMessage({ session_id, role: "assistant", content: "first", run_id: lease.run_id });
      const last = await storage.createMessage({
        session_id,
        role: "assistant",
        content: "last",
        run_id: lease.run_id,
      });
      await storage.createMessage({ session_id, role: "user", content: "and then?" });
      await storage.finishRun(lease, { ...endOf("succeeded"), withLastWord: tell });
      const [done] = await readAll(storage, session_id);
      expect(done?.data).toEqual({
        ...{ run_id: lease.run_id, status: "succeeded" },
        ...{ message_id: last.id, assistant_data: last },
      });
      await storage.createRun({ session_id });
      await storage.finishRun(await claim(storage), { ...endOf("failed"), withLastWord: tell }); // an earlier run's is not its own
      expect((await readAll(storage, session_id)).at(-1)?.data).toMatchObject({
        ...{ status: "failed", message_id: null, assistant_data: null },
      });
      const payloads = (await storage.listDeliveries({ session_id })).map(({ payload }) => payload);
      expect(payloads).toEqual([{ output: null }, { output: "last" }]);
    });

    test("the last word may be what an earlier attempt has said", async ({ storage }) => {
      const { id: session_id } = await storage.createSession({});
      await storage.createRun({ session_id });
      const saver = await storage.getCheckpointer();
      const conversation = { messages: [new AIMessage({ id: "said", content: "before the crash" })], n: 0 };
      const dead = { ...(await claim(storage, { lease_ms: NO_TIME })) };
      const point = await put(saver, dead.thread_id, conversation, { configurable: { [LEASE]: dead } });
      const lease: WriterLease = { ...(await claim(storage)) };
      await put(saver, point, { ...conversation, n: 1 }, { changed: ["n"], configurable: { [LEASE]: lease } });
      const { run } = await storage.finishRun(lease, {
        ...endOf("succeeded"),
        withLastWord: (last) => ({ done: { message_id: last?.id ?? null } }),
      });
      expect((await readAll(storage, session_id)).at(-1)?.data).toMatchObject({ message_id: "said" });
      expect(run.checkpoint_id).toBe((await storage.timeline.readTimeline(session_id))[0]?.checkpoint_id);
    });

    test("succeeded and aborted leave the session active", async ({ storage }) => {
      for (const status of ["succeeded", "aborted"] as const) {
        const { session_id, lease } = await startRun(storage);
        const { run } = await storage.finishRun(lease, endOf(status));
        expect(run).toMatchObject({ status, error: null, usage: null });
        expect(await storage.getSession(session_id)).toMatchObject({ status: "active" });
      }
    });

    test("says whether others wait for their turn in the same session", async ({ storage }) => {
      const { session_id, lease } = await startRun(storage);
      await startRun(storage); // another session's
      await storage.createRun({ session_id, input: {} });
      expect(await storage.finishRun(lease, endOf("succeeded"))).toMatchObject({ others_wait: true });
      const next = await claim(storage);
      expect(await storage.finishRun(next, endOf("succeeded"))).toMatchObject({ others_wait: false });
    });

    test("a second end, and whatever else comes after the end, is refused", async ({ storage }) => {
      const { session_id, lease } = await startRun(storage);
      await storage.finishRun(lease, endOf("succeeded"));
      const ended = { code: "run_ended" };
      await expect(storage.finishRun(lease, endOf("failed"))).rejects.toMatchObject(ended);
      await expect(storage.appendEvents({ session_id, lease, events: [token("x")] })).rejects.toMatchObject(ended);
      await expect(storage.suspendRun(lease, [])).rejects.toMatchObject(ended);
      expect(await storage.getRun(lease.run_id)).toMatchObject({ status: "succeeded" });
      expect(await storage.lastEventId(session_id)).toBe(1);
      expect(await storage.listDeliveries({ session_id })).toEqual([]);
    });

    test("of many ends at once exactly one is stored", async ({ storage, second }) => {
      const instances = [storage, second ? await second() : storage];
      const { session_id, lease } = await startRun(storage);
      const delivery = { url: "https://example.com/", payload: {} };
      const ends = Array.from({ length: 8 }, (_, n) =>
        instances[n % 2]?.finishRun(lease, { ...endOf(n % 2 ? "failed" : "succeeded", token("x")), delivery }),
      );
      const settled = await Promise.allSettled(ends);
      expect(settled.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
      for (const end of settled) if (end.status === "rejected") expect(end.reason).toMatchObject({ code: "run_ended" });
      expect((await readAll(storage, session_id)).map(({ event }) => event)).toEqual(["token", "done"]);
      expect(await storage.listDeliveries({ session_id })).toHaveLength(1);
    });

    test("takes exactly one done, last, of the run's own status; else the run goes on", async ({ storage }) => {
      const { session_id, lease } = await startRun(storage);
      const [done] = endOf("succeeded").events as [RunEnd["events"][number]];
      const bad = [[], [token("x")], [done, token("x")], [done, done], endOf("failed").events];
      for (const events of bad) {
        const finished = storage.finishRun(lease, { status: "succeeded", events });
        await expect(finished).rejects.toMatchObject({ code: "validation_failed" });
      }
      const unfit = storage.finishRun(lease, endOf("succeeded", { event: "custom", data: { n: 1n } }));
      await expect(unfit).rejects.toMatchObject({ code: "unserializable_value" });
      expect(await storage.lastEventId(session_id)).toBe(0);
      expect(await storage.renewLease(lease, LEASE_MS)).toBe("held");
      await storage.finishRun(lease, endOf("succeeded"));
      expect(idsOf(await readAll(storage, session_id))).toEqual([1]);
    });

    test("frees the thread at once, and numbers go on over runs", async ({ storage }) => {
      const { session_id, lease } = await startRun(storage);
      await storage.createRun({ session_id });
      await storage.finishRun(lease, endOf("succeeded", token("a")));
      await storage.finishRun(await claim(storage), endOf("succeeded", token("b")));
      const events = await readAll(storage, session_id);
      expect(idsOf(events)).toEqual(upTo(4));
      expect(events.map(({ event }) => event)).toEqual(["token", "done", "token", "done"]);
    });

    test("a deleted session's run can't end any more", async ({ storage }) => {
      const { session_id, lease } = await startRun(storage);
      await storage.deleteSession(session_id);
      await expect(storage.finishRun(lease, endOf("succeeded"))).rejects.toMatchObject({ code: "run_not_found" });
      expect(await storage.renewLease(lease, LEASE_MS)).toBe("lost");
    });
  });
}
