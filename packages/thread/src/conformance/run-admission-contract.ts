import type { Scope } from "@cognition/contract";
import { describe, expect, it } from "vitest";
import type { ClaimedRun, NewRun } from "../run-store.ts";
import { putCheckpoint } from "./checkpoints.ts";
import type { OpenStorage } from "./open-storage-fixture.ts";
import {
  claim,
  endOf,
  FULL_SESSION,
  idsOf,
  LEASE_MS,
  NO_TIME,
  readAll,
  runSessionOf,
  startRun,
  token,
} from "./started-run.ts";
import { withStorage } from "./with-storage.ts";

const CLAIM = { owner: "worker", lease_ms: LEASE_MS };
const QUEUED = { event: "status", data: { status: "queued" } } as const;

export function runAdmissionContract(open: OpenStorage): void {
  const test = (name: string, body: Parameters<typeof withStorage>[1]) => it(name, withStorage(open, body));

  describe("createRun", () => {
    test("stores run, message and events together", async ({ storage, reopen }) => {
      const { id: session_id } = await storage.createSession({});
      const message = { role: "user", content: "hello" } as const;
      const made = await storage.createRun({ session_id, message, events: [QUEUED], input: { a: 1 } });
      expect(made.created).toBe(true);
      expect(made.run).toMatchObject({ session_id, status: "queued", attempt: 0, agent_name: "default" });
      expect(made.message).toMatchObject({ session_id, run_id: made.run.id, ...message });
      const after = reopen ? await reopen() : storage;
      expect(await after.getRun(made.run.id)).toEqual(made.run);
      expect(await after.listMessagesForSession(session_id)).toEqual([made.message]);
      expect(await after.getSession(session_id)).toMatchObject({ message_count: 1, active_run_id: made.run.id });
      const { events } = await after.readEvents({ session_id });
      expect(events).toMatchObject([{ id: 1, session_id, run_id: made.run.id, event: "status" }]);
      expect(events[0]?.data).toEqual({ run_id: made.run.id, status: "queued" });
    });

    test("nothing is stored when any part of it can't be", async ({ storage }) => {
      const { id: session_id } = await storage.createSession({});
      const bad: [Partial<NewRun>, string][] = [
        [{ message: { role: "user", content: "x", parent_id: "no such message" } }, "message_not_found"],
        [{ input: { n: 1n } }, "unserializable_value"],
        [{ events: [{ event: "custom", data: { n: 1n } }] }, "unserializable_value"],
        [{ events: endOf("succeeded").events }, "validation_failed"],
      ];
      for (const [part, code] of bad) {
        const idempotency = { key: "k", body_hash: code };
        const whole: NewRun = { session_id, message: { role: "user", content: "x" }, events: [QUEUED], idempotency };
        await expect(storage.createRun({ ...whole, ...part })).rejects.toMatchObject({ code });
      }
      expect(await storage.listRuns(session_id)).toEqual([]);
      expect(await storage.listMessagesForSession(session_id)).toEqual([]);
      expect(await storage.lastEventId(session_id)).toBe(0);
      const idempotency = { key: "k", body_hash: "good" };
      expect((await storage.createRun({ session_id, idempotency })).created).toBe(true);
    });

    test("a session that isn't there, a deleted one, an id that is taken", async ({ storage }) => {
      await expect(storage.createRun({ session_id: "none" })).rejects.toMatchObject({ code: "session_not_found" });
      const { id: session_id } = await storage.createSession({});
      const { run } = await storage.createRun({ session_id });
      await expect(storage.createRun({ session_id, id: run.id })).rejects.toMatchObject({ code: "already_exists" });
      await storage.deleteSession(session_id);
      await expect(storage.createRun({ session_id })).rejects.toMatchObject({ code: "session_not_found" });
      await expect(storage.getRun(run.id)).rejects.toMatchObject({ code: "run_not_found" });
    });

    test("begins at once where it is asked for and nothing comes before it, as a claim would", async ({ storage }) => {
      const session = await storage.createSession(FULL_SESSION);
      const { id: session_id, thread_id } = session;
      const started: NewRun = { session_id, input: { ask: 1 }, callback_url: "https://example.com/x", claim: CLAIM };
      const told = [QUEUED, { ...QUEUED, ordinal: 4 }];
      const { run, claimed } = await storage.createRun({ ...started, events: told });
      expect(run).toMatchObject({ status: "queued", attempt: 0, started_at: null });
      expect(claimed).toMatchObject({ run_id: run.id, thread_id, scopes: { user: "ann" }, input: { ask: 1 } });
      expect(claimed).toMatchObject({ abort_requested: false, stalled_attempts: 0, next_ordinal: 5 });
      expect(claimed?.callback_url).toBe("https://example.com/x");
      expect(claimed?.session).toEqual(runSessionOf(session));
      expect(claimed?.run).toMatchObject({ status: "running", attempt: 1, started_at: run.created_at });
      expect(await storage.getRun(run.id)).toEqual(claimed?.run);
      expect(await storage.claimRun({ owner: "other", lease_ms: LEASE_MS })).toBeNull();
      const lease = claimed as ClaimedRun;
      expect(await storage.renewLease(lease, LEASE_MS)).toBe("held");
      await storage.appendEvents({ session_id, lease, events: [token("a", "m", 5)] });
      await storage.finishRun(lease, endOf("succeeded"));
      const next = await storage.createRun({ session_id, claim: CLAIM });
      expect(next.claimed).toMatchObject({ run_id: next.run.id, next_ordinal: 0 });
      expect(next.claimed?.epoch).toBeGreaterThan(lease.epoch);
    });

    test("what was begun at once is taken over like any other when its owner dies", async ({ storage }) => {
      const { id: session_id, thread_id } = await storage.createSession({});
      await putCheckpoint(storage, thread_id);
      const { run, claimed } = await storage.createRun({ session_id, claim: { owner: "dies", lease_ms: NO_TIME } });
      const again = await claim(storage);
      expect(again).toMatchObject({ run_id: run.id, stalled_attempts: 1, run: { attempt: 2 } });
      expect(again.epoch).toBeGreaterThan(claimed?.epoch ?? Number.POSITIVE_INFINITY);
      await expect(storage.finishRun(claimed as ClaimedRun, endOf("succeeded"))).rejects.toMatchObject({
        code: "stale_epoch",
      });
    });

    test("begins later where something comes before it, or it was there already", async ({ storage }) => {
      const { id: session_id } = await storage.createSession({});
      const idempotency = { key: "k", body_hash: "h" };
      const first = await storage.createRun({ session_id, idempotency, claim: CLAIM });
      expect(first.claimed).toBeDefined();
      expect(await storage.createRun({ session_id, idempotency, claim: CLAIM })).not.toHaveProperty("claimed");
      const second = await storage.createRun({ session_id, claim: CLAIM });
      expect(second).not.toHaveProperty("claimed");
      await storage.suspendRun(first.claimed as ClaimedRun, []);
      await expect(storage.createRun({ session_id, claim: CLAIM })).rejects.toMatchObject({
        code: "waiting_for_approval",
      });
      await storage.requestAbort(session_id, first.run.id);
      expect((await claim(storage)).run_id).toBe(second.run.id);
      const queued = await storage.createSession({});
      await storage.createRun({ session_id: queued.id });
      expect(await storage.createRun({ session_id: queued.id, claim: CLAIM })).not.toHaveProperty("claimed");
      const taking = await storage.createRun({ session_id, on_busy: "interrupt", claim: CLAIM });
      expect(taking).toMatchObject({ interrupted: { marked: [second.run.id] } });
      expect(taking).not.toHaveProperty("claimed");
    });

    test("begins later where others wait, if it is to let them go first", async ({ storage }) => {
      const [ann, bob, cid] = [{ user: "ann" }, { user: "bob" }, { user: "cid" }];
      const begins = async (scopes: Scope, ...unless_waiting_outside: Scope[]) => {
        const { id: session_id } = await storage.createSession({ scopes });
        const { run, claimed } = await storage.createRun({ session_id, claim: { ...CLAIM, unless_waiting_outside } });
        if (claimed) await storage.finishRun(claimed, endOf("succeeded"));
        else await storage.requestAbort(session_id, run.id);
        return claimed !== undefined;
      };
      expect(await begins(bob, bob)).toBe(true);
      const queued = await storage.createSession({ scopes: bob });
      const { run } = await storage.createRun({ session_id: queued.id });
      expect(await begins(bob, bob)).toBe(true);
      expect(await begins(ann, ann)).toBe(false);
      expect(await begins(cid, cid)).toBe(false);
      expect(await begins(ann, cid, ann)).toBe(false);
      expect(await begins(ann, cid, ann, bob)).toBe(true);
      expect(await begins(ann)).toBe(true);
      expect((await claim(storage)).run_id).toBe(run.id);
      expect(await begins(ann, ann)).toBe(true); // it runs, and waits for nobody
    });

    test("many at once on one thread: one begins", async ({ storage }) => {
      const { id: session_id } = await storage.createSession({});
      const made = await Promise.all(Array.from({ length: 20 }, () => storage.createRun({ session_id, claim: CLAIM })));
      expect(made.filter(({ claimed }) => claimed)).toHaveLength(1);
      const runs = await storage.listRuns(session_id, { limit: 50 });
      expect(runs.filter(({ status }) => status === "running").map(({ id }) => id)).toEqual([runs.at(-1)?.id]);
    });

    test("the same key and body give the first run again, whatever became of it", async ({ storage }) => {
      const { id: session_id } = await storage.createSession({});
      const run: NewRun = {
        session_id,
        message: { role: "user", content: "once" },
        events: [QUEUED],
        idempotency: { key: "k", body_hash: "h" },
      };
      const made = await storage.createRun(run);
      expect(await storage.createRun(run)).toEqual({ ...made, created: false });
      const lease = await claim(storage);
      await storage.suspendRun(lease, []);
      expect(await storage.createRun(run)).toMatchObject({
        created: false,
        run: { id: made.run.id },
        message: made.message,
      });
      expect(await storage.listMessagesForSession(session_id)).toHaveLength(1);
      expect(await storage.lastEventId(session_id)).toBe(1);
    });

    test("the same key with another body, or for another session, is a mismatch", async ({ storage }) => {
      const [one, other] = [await storage.createSession({}), await storage.createSession({})];
      const idempotency = { key: "k", body_hash: "h" };
      await storage.createRun({ session_id: one.id, idempotency });
      const mismatch = { code: "idempotency_mismatch" };
      const changed = { session_id: one.id, idempotency: { key: "k", body_hash: "another" } };
      await expect(storage.createRun(changed)).rejects.toMatchObject(mismatch);
      await expect(storage.createRun({ session_id: other.id, idempotency })).rejects.toMatchObject(mismatch);
      const elsewhere = await storage.createSession({ scopes: { user: "ann" } });
      expect((await storage.createRun({ session_id: elsewhere.id, idempotency })).created).toBe(true);
    });

    test("a key that something else was done under is none of a run's, whatever the answer to that was", async ({
      storage,
    }) => {
      const { id: session_id } = await storage.createSession({});
      const mismatch = { code: "idempotency_mismatch" };
      for (const [i, response] of [null, "text", 7, { status: 201 }].entries()) {
        const idempotency = { key: `k${i}`, body_hash: "h" };
        await storage.claimIdempotencyKey(idempotency);
        await storage.saveIdempotentResponse({ key: idempotency.key, response });
        await expect(storage.findAdmittedRun(session_id, idempotency)).rejects.toMatchObject(mismatch);
        await expect(storage.createRun({ session_id, idempotency })).rejects.toMatchObject(mismatch);
      }
    });

    test("what a key was admitted with can be looked up without admitting anything", async ({ storage }) => {
      const [one, other] = [await storage.createSession({}), await storage.createSession({})];
      const idempotency = { key: "k", body_hash: "h" };
      expect(await storage.findAdmittedRun(one.id, idempotency)).toBeNull();
      const message = { role: "user", content: "once" } as const;
      const { created: _, ...made } = await storage.createRun({ session_id: one.id, message, idempotency });
      expect(await storage.findAdmittedRun(one.id, idempotency)).toEqual(made);
      const mismatch = { code: "idempotency_mismatch" };
      const changed = { key: "k", body_hash: "another" };
      await expect(storage.findAdmittedRun(one.id, changed)).rejects.toMatchObject(mismatch);
      await expect(storage.findAdmittedRun(other.id, idempotency)).rejects.toMatchObject(mismatch);
      const elsewhere = await storage.createSession({ scopes: { user: "ann" } });
      expect(await storage.findAdmittedRun(elsewhere.id, idempotency)).toBeNull();
      await storage.createRun({ session_id: one.id, idempotency: { key: "short", body_hash: "h", ttl_ms: 0 } });
      expect(await storage.findAdmittedRun(one.id, { key: "short", body_hash: "h" })).toBeNull();
    });

    test("a key that has run out is free again", async ({ storage }) => {
      const { id: session_id } = await storage.createSession({});
      const idempotency = { key: "k", body_hash: "h", ttl_ms: 0 };
      const first = await storage.createRun({ session_id, idempotency });
      const second = await storage.createRun({ session_id, idempotency: { ...idempotency, body_hash: "another" } });
      expect(second).toMatchObject({ created: true });
      expect(second.run.id).not.toBe(first.run.id);
    });

    test("of many at once with one key exactly one makes the run", async ({ storage, second }) => {
      const instances = [storage, second ? await second() : storage];
      const { id: session_id } = await storage.createSession({});
      const run = {
        session_id,
        message: { role: "user", content: "x" },
        idempotency: { key: "k", body_hash: "h" },
      } as const;
      const made = await Promise.all(Array.from({ length: 12 }, (_, n) => instances[n % 2]?.createRun(run)));
      expect(made.filter((each) => each?.created)).toHaveLength(1);
      expect(new Set(made.map((each) => each?.run.id)).size).toBe(1);
      expect(await storage.listMessagesForSession(session_id)).toHaveLength(1);
    });

    test("on_busy reject is refused while a run is open, and of many at once one is accepted", async ({
      storage,
      second,
    }) => {
      const instances = [storage, second ? await second() : storage];
      const { id: session_id } = await storage.createSession({});
      const ask = (n: number) => instances[n % 2]?.createRun({ session_id, on_busy: "reject" });
      const answers = await Promise.allSettled(Array.from({ length: 8 }, (_, n) => ask(n)));
      expect(answers.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
      for (const answer of answers) {
        if (answer.status === "rejected") expect(answer.reason).toMatchObject({ code: "session_busy" });
      }
      await storage.finishRun(await claim(storage), endOf("succeeded"));
      expect((await storage.createRun({ session_id, on_busy: "reject" })).created).toBe(true);
    });

    test("on_busy interrupt takes over from what is open, in the same commit", async ({ storage }) => {
      const { session_id, lease } = await startRun(storage);
      const { run: waits } = await storage.createRun({ session_id, events: [QUEUED] });
      const interrupted = { ended: [waits.id], marked: [lease.run_id] };
      const made = await storage.createRun({ session_id, on_busy: "interrupt", events: [QUEUED] });
      expect(made).toMatchObject({ created: true, interrupted });
      expect(await storage.renewLease(lease, LEASE_MS)).toBe("abort_requested");
      expect(await storage.getRun(waits.id)).toMatchObject({ status: "aborted" });
      expect((await readAll(storage, session_id)).map(({ event }) => event)).toEqual([
        ...["status", "status", "done"],
        "status",
      ]);
      await storage.finishRun(lease, endOf("aborted"));
      expect(await claim(storage)).toMatchObject({ run_id: made.run.id });
    });

    test("on_busy interrupt disturbs nothing when it is refused, or was admitted before", async ({ storage }) => {
      const { id: session_id } = await storage.createSession({});
      const interrupt = { session_id, on_busy: "interrupt", idempotency: { key: "k", body_hash: "h" } } as const;
      const { run } = await storage.createRun(interrupt);
      const lease = await claim(storage);
      expect(await storage.createRun(interrupt)).toMatchObject({ created: false, run: { id: run.id } });
      const other = storage.createRun({ ...interrupt, idempotency: { key: "k", body_hash: "other" } });
      await expect(other).rejects.toMatchObject({ code: "idempotency_mismatch" });
      await storage.updateSession(session_id, { status: "inactive" });
      const refused = storage.createRun({ session_id, on_busy: "interrupt" });
      await expect(refused).rejects.toMatchObject({ code: "session_inactive" });
      await storage.updateSession(session_id, { status: "active" });
      expect(await storage.renewLease(lease, LEASE_MS)).toBe("held");
      await storage.suspendRun(lease, []);
      const waiting = storage.createRun({ session_id, on_busy: "interrupt" });
      await expect(waiting).rejects.toMatchObject({ code: "waiting_for_approval" });
      expect(await storage.getRun(run.id)).toMatchObject({ status: "waiting_for_approval" });
    });

    test("a session that waits for a human, or is inactive, takes no run", async ({ storage }) => {
      const { session_id, lease } = await startRun(storage);
      await storage.suspendRun(lease, []);
      const waiting = { code: "waiting_for_approval", details: { run_id: lease.run_id } };
      await expect(storage.createRun({ session_id })).rejects.toMatchObject(waiting);
      await storage.requestAbort(session_id);
      await storage.updateSession(session_id, { status: "inactive" });
      await expect(storage.createRun({ session_id })).rejects.toMatchObject({ code: "session_inactive" });
      await storage.updateSession(session_id, { status: "active" });
      expect((await storage.createRun({ session_id })).created).toBe(true);
    });

    test("one that resumes another tells its end to whoever waited for that one's, if it names nobody else", async ({
      storage,
    }) => {
      const [one, other] = ["https://example.com/one", "https://example.com/other"];
      const { id: session_id } = await storage.createSession({});
      const toldBy = async (run: Partial<NewRun>) => {
        await storage.createRun({ session_id, ...run });
        const lease = await claim(storage);
        await storage.finishRun(lease, endOf("failed"));
        return lease;
      };
      const { run_id: resumes, callback_url } = await toldBy({ callback_url: one });
      expect(callback_url).toBe(one);
      expect(await toldBy({ resumes })).toMatchObject({ callback_url: one });
      expect(await toldBy({ resumes, callback_url: other })).toMatchObject({ callback_url: other });
      expect(await toldBy({})).toMatchObject({ callback_url: null });
    });

    test("ends the error of the run before it", async ({ storage }) => {
      const { session_id, lease } = await startRun(storage);
      await storage.finishRun(lease, endOf("failed"));
      expect(await storage.getSession(session_id)).toMatchObject({ status: "error" });
      await storage.createRun({ session_id });
      expect(await storage.getSession(session_id)).toMatchObject({ status: "active" });
    });

    test("its events take their place among those of a running run", async ({ storage }) => {
      const { session_id, lease } = await startRun(storage);
      const tokens = Array.from({ length: 10 }, (_, n) =>
        storage.appendEvents({ session_id, lease, events: [token(`${n}`), token("x")] }),
      );
      const runs = Array.from({ length: 5 }, () => storage.createRun({ session_id, events: [QUEUED] }));
      await Promise.all([...tokens, ...runs]);
      const events = await readAll(storage, session_id);
      expect(idsOf(events)).toEqual(Array.from({ length: 25 }, (_, n) => n + 1));
      expect(new Set(events.map(({ run_id }) => run_id)).size).toBe(6);
    });
  });
}
