import { MAX_LEASE_MS } from "@cognition/contract";
import { describe, expect, it } from "vitest";
import { LEASE } from "../checkpoint/lease.ts";
import type { ClaimedRun, Lease } from "../run-store.ts";
import type { Storage } from "../storage.ts";
import { put } from "./checkpoint-line.ts";
import type { OpenStorage } from "./open-storage-fixture.ts";
import { claim, endOf, FULL_SESSION, LEASE_MS, NO_TIME, runSessionOf, startRun, token } from "./started-run.ts";
import { until } from "./until.ts";
import { withStorage } from "./with-storage.ts";

const THREADS = 40;
const RUNS_EACH = 5;
const WORKERS = 8;

export function runClaimContract(open: OpenStorage): void {
  const test = (name: string, body: Parameters<typeof withStorage>[1]) => it(name, withStorage(open, body));
  const none = (storage: Storage, session_id?: string) =>
    storage.claimRun({ owner: "other", lease_ms: LEASE_MS, ...(session_id !== undefined && { session_id }) });

  describe("claimRun", () => {
    test("gives the oldest queued run, with its input, and raises attempt and epoch", async ({ storage }) => {
      expect(await none(storage)).toBeNull();
      const session = await storage.createSession(FULL_SESSION);
      const { id: session_id, thread_id } = session;
      const { run } = await storage.createRun({ session_id, input: { ask: 1 } });
      const lease = await claim(storage);
      expect(lease.session).toEqual(runSessionOf(session));
      expect(lease).toMatchObject({ run_id: run.id, thread_id, input: { ask: 1 }, abort_requested: false });
      expect(lease).toMatchObject({ stalled_attempts: 0, next_ordinal: 0, run: { status: "running", attempt: 1 } });
      expect(lease.epoch).toBeGreaterThan(0);
      expect(lease.run.started_at).not.toBeNull();
      expect(await storage.getRun(run.id)).toEqual(lease.run);
      expect(await none(storage)).toBeNull();
    });

    test("passes over scopes when asked to, and tells whose run it is", async ({ storage }) => {
      const [ann, bob] = [{ user: "ann", team: "a" }, { user: "bob" }];
      const sessions = [await storage.createSession({ scopes: ann }), await storage.createSession({ scopes: bob })];
      for (const { id } of sessions) await storage.createRun({ session_id: id });
      const except = (...except_scopes: Record<string, string>[]) =>
        storage.claimRun({ owner: "worker", lease_ms: LEASE_MS, except_scopes });
      expect(await except(bob, ann)).toBeNull();
      // The order of the keys does not matter.
      expect(await except({ team: "a", user: "ann" })).toMatchObject({
        run: { session_id: sessions[1]?.id },
        scopes: bob,
      });
      expect(await except(bob)).toMatchObject({ run: { session_id: sessions[0]?.id }, scopes: ann });
    });

    test("passes over runs that the asker is at work on, though their leases have run out", async ({ storage }) => {
      const { id: session_id } = await storage.createSession({});
      const { run } = await storage.createRun({ session_id });
      const mine = await claim(storage, { lease_ms: 0 });
      const again = (asked: object) =>
        storage.claimRun({ owner: "worker", lease_ms: LEASE_MS, except_runs: [run.id], ...asked });
      for (const asked of [{}, { session_id }, { except_scopes: [{ user: "ann" }] }])
        expect(await again(asked)).toBeNull();
      expect(await storage.renewLease(mine, 0)).toBe("held");
      expect(await again({ except_runs: ["another"] })).toMatchObject({ run_id: run.id, run: { attempt: 2 } });
      expect(await storage.renewLease(mine, LEASE_MS)).toBe("lost");
    });

    test("one at a time on a thread, in order; other threads don't wait", async ({ storage }) => {
      const { id: session_id } = await storage.createSession({});
      const ids: string[] = [];
      for (let n = 0; n < 3; n++) ids.push((await storage.createRun({ session_id })).run.id);
      const elsewhere = await storage.createSession({});
      const { run: other } = await storage.createRun({ session_id: elsewhere.id });
      const first = await claim(storage);
      expect(first.run_id).toBe(ids[0]);
      expect((await claim(storage)).run_id).toBe(other.id);
      expect(await none(storage)).toBeNull();
      await storage.finishRun(first, endOf("succeeded"));
      const second = await claim(storage);
      expect(second.run_id).toBe(ids[1]);
      expect(second.epoch).toBeGreaterThan(first.epoch);
      await storage.suspendRun(second, []);
      expect(await none(storage)).toBeNull();
      await storage.requestAbort(session_id, second.run_id);
      expect((await claim(storage)).run_id).toBe(ids[2]);
    });

    test("of one session only, when asked so", async ({ storage }) => {
      const [one, other] = [await storage.createSession({}), await storage.createSession({})];
      await storage.createRun({ session_id: one.id });
      expect(await none(storage, other.id)).toBeNull();
      const { run } = await storage.createRun({ session_id: other.id });
      expect((await claim(storage, { session_id: other.id })).run_id).toBe(run.id);
    });

    test("an inactive or deleted session's runs: the one goes on, the other is gone", async ({ storage }) => {
      const { id: session_id } = await storage.createSession({});
      await storage.createRun({ session_id });
      const gone = await storage.createSession({});
      await storage.createRun({ session_id: gone.id });
      await storage.updateSession(session_id, { status: "inactive" });
      await storage.deleteSession(gone.id);
      const lease = await claim(storage);
      expect(lease.run.session_id).toBe(session_id);
      await storage.finishRun(lease, endOf("succeeded"));
      expect(await storage.getSession(session_id)).toMatchObject({ status: "inactive" });
      expect(await none(storage)).toBeNull();
    });

    test("a lease that has run out is taken over by exactly one, and the former owner is fenced off", async (fixture) => {
      const { storage } = fixture;
      const instances = [storage, fixture.second ? await fixture.second() : storage];
      const { id: session_id } = await storage.createSession({});
      await storage.createRun({ session_id });
      const dead = await claim(storage, { lease_ms: NO_TIME });
      await storage.appendEvents({ session_id, lease: dead, events: [token("a", "m", 0), token("b", "m", 1)] });
      const claims = Array.from({ length: WORKERS }, (_, n) =>
        instances[n % 2]?.claimRun({ owner: `w${n}`, lease_ms: LEASE_MS }),
      );
      const taken = (await Promise.all(claims)).filter((lease) => lease !== null);
      expect(taken).toHaveLength(1);
      const [lease] = taken as [ClaimedRun];
      expect(lease).toMatchObject({ run_id: dead.run_id, run: { attempt: 2 }, next_ordinal: 2 });
      expect(lease.epoch).toBeGreaterThan(dead.epoch);
      const stale = { code: "stale_epoch" };
      await expect(storage.appendEvents({ session_id, lease: dead, events: [token("x")] })).rejects.toMatchObject(
        stale,
      );
      await expect(storage.finishRun(dead, endOf("succeeded"))).rejects.toMatchObject(stale);
      await expect(storage.suspendRun(dead, [])).rejects.toMatchObject(stale);
      await expect(storage.releaseRun(dead)).rejects.toMatchObject(stale);
      expect(await storage.renewLease(dead, LEASE_MS)).toBe("lost");
      expect(await storage.lastEventId(session_id)).toBe(2);
      await storage.finishRun(lease, endOf("succeeded"));
    });

    test("a lease only serves its own run and session", async ({ storage }) => {
      const one = await startRun(storage);
      const other = await startRun(storage);
      expect(one.lease.epoch).toBe(other.lease.epoch);
      const crossed = { session_id: one.session_id, lease: other.lease, events: [token("x")] };
      await expect(storage.appendEvents(crossed)).rejects.toMatchObject({ code: "stale_epoch" });
      const { run } = await storage.createRun({ session_id: one.session_id });
      const queued: Lease = { run_id: run.id, epoch: one.lease.epoch };
      await expect(storage.finishRun(queued, endOf("succeeded"))).rejects.toMatchObject({ code: "stale_epoch" });
      const early = { session_id: one.session_id, lease: queued, events: [token("x")] };
      await expect(storage.appendEvents(early)).rejects.toMatchObject({ code: "stale_epoch" });
      expect(await storage.renewLease(queued, LEASE_MS)).toBe("lost");
      expect(await storage.renewLease({ run_id: "none", epoch: 1 }, LEASE_MS)).toBe("lost");
    });

    test("a run of a thread that was deleted is given to nobody", async ({ storage }) => {
      const { id: session_id, thread_id } = await storage.createSession({});
      await storage.createRun({ session_id });
      await (await storage.getCheckpointer()).deleteThread(thread_id);
      expect(await none(storage)).toBeNull();
      expect(await none(storage, session_id)).toBeNull();
    });

    test("a run has begun when its first attempt did", async ({ storage }) => {
      const { id: session_id } = await storage.createSession({});
      await storage.createRun({ session_id });
      const { started_at } = (await claim(storage, { lease_ms: NO_TIME })).run;
      await until("a later moment", async () => Date.now() > Date.parse(started_at ?? "") || undefined);
      expect((await claim(storage)).run).toMatchObject({ attempt: 2, started_at });
    });

    test("counts what was cut off, and nothing else, against the run", async ({ storage }) => {
      const { id: session_id } = await storage.createSession({});
      await storage.createRun({ session_id });
      const counts: [number, number][] = [];
      const next = async (lease_ms: number) => {
        const lease = await claim(storage, { lease_ms });
        counts.push([lease.run.attempt, lease.stalled_attempts]);
        return lease;
      };
      await storage.releaseRun(await next(LEASE_MS)); // gave it back: not stalled
      await next(NO_TIME);
      await next(NO_TIME); // one was cut off before
      await storage.suspendRun(await next(LEASE_MS), []); // two; now a human has it
      await storage.resumeRun((await storage.listRuns(session_id))[0]?.id ?? "", "yes");
      await next(NO_TIME);
      await next(LEASE_MS);
      expect(counts).toEqual([
        [1, 0],
        [2, 0],
        [3, 1],
        [4, 2],
        [5, 0],
        [6, 1],
      ]);
    });

    test("a checkpoint is progress: what was cut off before it counts no more", async ({ storage }) => {
      const { thread_id } = await startRun(storage).then(({ lease }) => storage.releaseRun(lease).then(() => lease));
      const saver = await storage.getCheckpointer();
      await claim(storage, { lease_ms: NO_TIME });
      const stalled = await claim(storage, { lease_ms: NO_TIME });
      expect(stalled.stalled_attempts).toBe(1);
      await put(saver, thread_id, { n: 1 }, { configurable: { [LEASE]: { ...stalled } } });
      expect(await claim(storage, { lease_ms: NO_TIME })).toMatchObject({ stalled_attempts: 0 });
      expect(await claim(storage)).toMatchObject({ stalled_attempts: 1 });
    });

    test(`${THREADS * RUNS_EACH} runs over ${THREADS} threads, ${WORKERS} workers: each once, in order, never two on a thread`, async (fixture) => {
      const { storage } = fixture;
      const instances = [storage, fixture.second ? await fixture.second() : storage];
      const expected = new Map<string, string[]>();
      await Promise.all(
        Array.from({ length: THREADS }, async () => {
          const { id: session_id } = await storage.createSession({});
          const ids: string[] = [];
          for (let n = 0; n < RUNS_EACH; n++) ids.push((await storage.createRun({ session_id })).run.id);
          expected.set(session_id, ids);
        }),
      );
      const claimed = new Map<string, string[]>();
      const running = new Set<string>();
      const overlaps: string[] = [];
      let left = THREADS * RUNS_EACH;
      const work = async (instance: Storage, owner: string) => {
        while (left > 0) {
          const lease = await instance.claimRun({ owner, lease_ms: LEASE_MS });
          if (!lease) continue;
          const { session_id } = lease.run;
          if (running.has(session_id)) overlaps.push(session_id);
          running.add(session_id);
          claimed.set(session_id, [...(claimed.get(session_id) ?? []), lease.run_id]);
          await instance.appendEvents({ session_id, lease, events: [token(owner)] });
          running.delete(session_id);
          await instance.finishRun(lease, endOf("succeeded"));
          left--;
        }
      };
      await Promise.all(Array.from({ length: WORKERS }, (_, n) => work(instances[n % 2] as Storage, `w${n}`)));
      expect(overlaps).toEqual([]);
      expect(claimed).toEqual(expected);
    });
  });

  describe("renewLease", () => {
    test("keeps others away; after it ran out unclaimed it succeeds still", async ({ storage }) => {
      const { id: session_id } = await storage.createSession({});
      await storage.createRun({ session_id });
      const lease = await claim(storage, { lease_ms: NO_TIME });
      expect(await storage.renewLease(lease, LEASE_MS)).toBe("held");
      expect(await none(storage)).toBeNull();
      expect(await storage.renewLease(lease, NO_TIME)).toBe("held");
      await storage.appendEvents({ session_id, lease, events: [token("late, but nobody else has it")] });
      const next = await claim(storage);
      expect(await storage.renewLease(lease, LEASE_MS)).toBe("lost");
      await storage.finishRun(next, endOf("succeeded"));
      expect(await storage.renewLease(next, LEASE_MS)).toBe("lost");
    });

    test("tells the owner that somebody, through whatever instance, wants the run aborted", async ({
      storage,
      second,
    }) => {
      const { session_id, lease } = await startRun(storage);
      const elsewhere = second ? await second() : storage;
      expect(await storage.renewLease(lease, LEASE_MS)).toBe("held");
      await elsewhere.requestAbort(session_id);
      expect(await storage.renewLease(lease, LEASE_MS)).toBe("abort_requested");
    });

    test("a lease is a whole number of milliseconds, and not longer than one that is believed", async ({ storage }) => {
      const { lease } = await startRun(storage);
      for (const ms of [-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, MAX_LEASE_MS + 1]) {
        await expect(storage.renewLease(lease, ms)).rejects.toMatchObject({ code: "validation_failed" });
        await expect(storage.claimRun({ owner: "w", lease_ms: ms })).rejects.toMatchObject({
          code: "validation_failed",
        });
      }
    });

    test("the longest lease holds", async ({ storage }) => {
      const { lease } = await startRun(storage);
      expect(await storage.renewLease(lease, MAX_LEASE_MS)).toBe("held");
      expect(await none(storage)).toBeNull();
    });

    test("outlives a restart of the storage", async ({ storage, reopen }) => {
      const { lease } = await startRun(storage);
      const after = reopen ? await reopen() : storage;
      expect(await none(after)).toBeNull();
      expect(await after.renewLease(lease, NO_TIME)).toBe("held");
      expect((await claim(after)).run_id).toBe(lease.run_id);
    });
  });
}
