import { describe, expect, it } from "vitest";
import type { OpenStorage } from "./open-storage-fixture.ts";
import { claim, endOf, LEASE_MS, readAll, startRun, token } from "./started-run.ts";
import { withStorage } from "./with-storage.ts";

const INTERRUPT = { event: "interrupt", data: { interrupts: [{ id: "i", allowed_decisions: ["approve"] }] } } as const;

export function runPauseContract(open: OpenStorage): void {
  const test = (name: string, body: Parameters<typeof withStorage>[1]) => it(name, withStorage(open, body));

  describe("releaseRun", () => {
    test("puts the run back before those that came after it, free at once", async ({ storage, second }) => {
      const other = second ? await second() : storage;
      const { session_id, lease } = await startRun(storage);
      await storage.createRun({ session_id });
      await storage.releaseRun(lease);
      expect(await storage.getRun(lease.run_id)).toMatchObject({ status: "queued", attempt: 1 });
      const stale = { code: "stale_epoch" };
      await expect(storage.appendEvents({ session_id, lease, events: [token("x")] })).rejects.toMatchObject(stale);
      await expect(storage.releaseRun(lease)).rejects.toMatchObject(stale);
      const next = await claim(other);
      expect(next).toMatchObject({ run_id: lease.run_id, run: { attempt: 2 } });
      await other.finishRun(next, endOf("succeeded"));
      await expect(storage.releaseRun(next)).rejects.toMatchObject({ code: "run_ended" });
    });
  });

  describe("suspendRun and resumeRun", () => {
    test("a run that somebody wants aborted does not wait for a human", async ({ storage }) => {
      const { session_id, lease } = await startRun(storage);
      await storage.requestAbort(session_id);
      await expect(storage.suspendRun(lease, [INTERRUPT])).rejects.toMatchObject({ code: "aborted" });
      expect(await storage.getRun(lease.run_id)).toMatchObject({ status: "running" });
      expect(await readAll(storage, session_id)).toEqual([]);
      await storage.finishRun(lease, endOf("aborted"));
      await expect(storage.suspendRun(lease, [INTERRUPT])).rejects.toMatchObject({ code: "run_ended" });
    });

    test("an answer to what was asked before is refused once the run asks anew", async ({ storage }) => {
      const { lease } = await startRun(storage);
      await storage.suspendRun(lease, [INTERRUPT]);
      const [asked] = await storage.listWaitingRuns();
      await storage.resumeRun(lease.run_id, { i: "approve" }, asked?.run.attempt);
      await storage.suspendRun(await claim(storage), [INTERRUPT]);
      const late = storage.resumeRun(lease.run_id, { i: "reject" }, asked?.run.attempt);
      await expect(late).rejects.toMatchObject({ code: "already_answered" });
      const [asks] = await storage.listWaitingRuns();
      expect(await storage.resumeRun(lease.run_id, {}, asks?.run.attempt)).toMatchObject({ status: "queued" });
    });

    test("wait for a human without a lease, and go on with the answer", async ({ storage, reopen }) => {
      const { session_id, lease } = await startRun(storage);
      const delivery = { url: "https://example.com/", payload: { status: "waiting" } };
      const waiting = await storage.suspendRun(lease, [token("may I?"), INTERRUPT], delivery);
      expect(waiting).toMatchObject({ id: lease.run_id, status: "waiting_for_approval", finished_at: null });
      const after = reopen ? await reopen() : storage;
      expect(await after.getSession(session_id)).toMatchObject({ status: "waiting_for_approval" });
      expect((await readAll(after, session_id)).map(({ event }) => event)).toEqual(["token", "interrupt"]);
      expect(await after.listDeliveries({ session_id })).toMatchObject([
        { run_id: lease.run_id, payload: delivery.payload },
      ]);
      expect(await after.claimRun({ owner: "w", lease_ms: LEASE_MS })).toBeNull();
      const late = after.appendEvents({ session_id, lease, events: [token("x")] });
      await expect(late).rejects.toMatchObject({ code: "stale_epoch" });

      expect(await after.resumeRun(lease.run_id, { i: "approve" })).toMatchObject({ status: "queued" });
      expect(await after.getSession(session_id)).toMatchObject({ status: "active" });
      const next = await claim(after);
      expect(next).toMatchObject({ run_id: lease.run_id, input: { i: "approve" }, run: { attempt: 2 } });
      expect(next.epoch).toBeGreaterThan(lease.epoch);
    });

    test("an answer may be made of what the run was given before", async ({ storage }) => {
      const { session_id } = await storage
        .createRun({ session_id: (await storage.createSession({})).id, input: { a: 1 } })
        .then(({ run }) => run);
      const lease = await claim(storage);
      await storage.suspendRun(lease, [INTERRUPT]);
      await storage.resumeRun(lease.run_id, (before: unknown) => ({ before, answer: "yes" }));
      expect(await claim(storage)).toMatchObject({ input: { before: { a: 1 }, answer: "yes" }, run: { session_id } });
    });

    test("lists what waits with what it asks last, of one scope or one session", async ({ storage }) => {
      const asked = (id: string) => ({
        event: "interrupt" as const,
        data: { interrupts: [{ id, allowed_decisions: [] }] },
      });
      const waiting = async (user: string) => {
        const { id } = await storage.createSession({ scopes: { user } });
        const { run } = await storage.createRun({ session_id: id });
        const lease = await claim(storage);
        await storage.suspendRun(lease, [asked(`first of ${user}`)]);
        await storage.resumeRun(run.id, {});
        await storage.suspendRun(await claim(storage), [asked(`rest of ${user}`)]);
        return run;
      };
      const [ann, bob] = [await waiting("ann"), await waiting("bob")];
      const ids = async (filter?: Parameters<typeof storage.listWaitingRuns>[0]) =>
        (await storage.listWaitingRuns(filter)).map(({ run, interrupts }) => [run.id, interrupts[0]?.id]);
      expect(await ids()).toEqual([
        [ann.id, "rest of ann"],
        [bob.id, "rest of bob"],
      ]);
      expect(await ids({ scope: { user: "bob" } })).toEqual([[bob.id, "rest of bob"]]);
      expect(await ids({ session_id: ann.session_id })).toEqual([[ann.id, "rest of ann"]]);
      expect(await ids({ session_id: ann.session_id, scope: { user: "bob" } })).toEqual([]);
      await storage.requestAbort(ann.session_id);
      expect(await ids()).toEqual([[bob.id, "rest of bob"]]);
    });

    test("of racing answers one wins, and the others hear that it was answered", async ({ storage, second }) => {
      const instances = [storage, second ? await second() : storage];
      const { lease } = await startRun(storage);
      await storage.suspendRun(lease, [INTERRUPT]);
      const answers = Array.from({ length: 8 }, (_, n) => instances[n % 2]?.resumeRun(lease.run_id, n));
      const settled = await Promise.allSettled(answers);
      const won = settled.flatMap(({ status }, n) => (status === "fulfilled" ? [n] : []));
      expect(won).toHaveLength(1);
      for (const answer of settled) {
        if (answer.status === "rejected") expect(answer.reason).toMatchObject({ code: "already_answered" });
      }
      expect((await claim(storage)).input).toBe(won[0]);
    });

    test("what has ended or isn't there takes no answer", async ({ storage }) => {
      const { lease } = await startRun(storage);
      await expect(storage.resumeRun("none", 1)).rejects.toMatchObject({ code: "run_not_found" });
      await expect(storage.resumeRun(lease.run_id, 1)).rejects.toMatchObject({ code: "already_answered" });
      await storage.finishRun(lease, endOf("failed"));
      await expect(storage.resumeRun(lease.run_id, 1)).rejects.toMatchObject({ code: "run_ended" });
      await expect(storage.suspendRun(lease, [])).rejects.toMatchObject({ code: "run_ended" });
    });

    test("an end among the events of a suspension is refused, and the run goes on", async ({ storage }) => {
      const { session_id, lease } = await startRun(storage);
      const suspended = storage.suspendRun(lease, endOf("aborted").events);
      await expect(suspended).rejects.toMatchObject({ code: "validation_failed" });
      expect(await storage.getRun(lease.run_id)).toMatchObject({ status: "running" });
      expect(await storage.lastEventId(session_id)).toBe(0);
    });
  });
}
