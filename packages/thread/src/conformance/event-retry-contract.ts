import { describe, expect, it } from "vitest";
import type { NewEvent } from "../event-log.ts";
import type { OpenStorage } from "./open-storage-fixture.ts";
import { claim, idsOf, NO_TIME, readAll, type StartedRun, startRun, token, upTo } from "./started-run.ts";
import { withStorage } from "./with-storage.ts";

/** A commit may stand although its answer was lost: the writer sends the same ordinals again. */
export function eventRetryContract(open: OpenStorage): void {
  const test = (name: string, body: Parameters<typeof withStorage>[1]) => it(name, withStorage(open, body));

  describe("ordinals", () => {
    test("the same batch again gives the stored events and stores nothing", async ({ storage, reopen }) => {
      const { session_id, lease } = await startRun(storage);
      const append = { session_id, lease, events: [token("a", "m", 0), token("b", "m", 1)] };
      const stored = await storage.appendEvents(append);
      await storage.appendEvents({ session_id, lease, events: [token("c", "m", 2)] });
      expect(await storage.appendEvents(append)).toEqual(stored);
      const after = reopen ? await reopen() : storage;
      expect(await after.appendEvents(append)).toEqual(stored);
      expect(idsOf(await readAll(after, session_id))).toEqual([1, 2, 3]);
      expect(await after.appendEvents({ session_id, lease, events: [token("d", "m", 3)] })).toMatchObject([{ id: 4 }]);
    });

    test("a batch of any size again", async ({ storage }) => {
      const { session_id, lease } = await startRun(storage);
      const events = upTo(70_000).map((n) => token("", "m", n));
      await storage.appendEvents({ session_id, lease, events });
      expect(idsOf(await storage.appendEvents({ session_id, lease, events }))).toEqual(upTo(70_000));
    });

    test("a batch that has grown since keeps what is stored and adds the rest", async ({ storage }) => {
      const { session_id, lease } = await startRun(storage);
      const [a, b, c] = [token("a", "m", 0), token("b", "m", 1), token("c", "m", 2)];
      const stored = await storage.appendEvents({ session_id, lease, events: [a, b] });
      const again = await storage.appendEvents({ session_id, lease, events: [a, b, c, token("no ordinal")] });
      expect(again.slice(0, 2)).toEqual(stored);
      expect(idsOf(again)).toEqual([1, 2, 3, 4]);
      expect(await readAll(storage, session_id)).toEqual(again);
    });

    test("many at once with the same ordinals store them once", async ({ storage, second }) => {
      const instances = [storage, second ? await second() : storage];
      const { session_id, lease } = await startRun(storage);
      const events = upTo(3).map((n) => token(`${n}`, "m", n));
      const writes = Array.from({ length: 10 }, (_, n) =>
        instances[n % 2]?.appendEvents({ session_id, lease, events }),
      );
      for (const stored of await Promise.all(writes)) expect(idsOf(stored ?? [])).toEqual([1, 2, 3]);
      expect(idsOf(await readAll(storage, session_id))).toEqual([1, 2, 3]);
    });

    test("another event under an ordinal that is taken is refused, not lost in silence", async ({ storage }) => {
      const { session_id, lease } = await startRun(storage);
      await storage.appendEvents({ session_id, lease, events: [token("a", "m", 0)] });
      const other = storage.appendEvents({ session_id, lease, events: [token("b", "m", 0), token("c", "m", 1)] });
      await expect(other).rejects.toMatchObject({ code: "idempotency_mismatch" });
      expect(await storage.lastEventId(session_id)).toBe(1);
    });

    test("the next owner goes on from next_ordinal; the former one's retry is refused", async ({ storage }) => {
      const { id: session_id } = await storage.createSession({});
      await storage.createRun({ session_id, events: [{ event: "status", data: { status: "queued" } }] });
      const dead = await claim(storage, { lease_ms: NO_TIME });
      const append = { session_id, lease: dead, events: [token("a", "m", 0), token("b", "m", 1)] };
      await storage.appendEvents(append);
      const lease = await claim(storage);
      expect(lease.next_ordinal).toBe(2);
      await expect(storage.appendEvents(append)).rejects.toMatchObject({ code: "stale_epoch" });
      const events = [token("c", "n", lease.next_ordinal)];
      expect(await storage.appendEvents({ session_id, lease, events })).toMatchObject([{ id: 4 }]);
    });

    test("ordinals of two runs don't meet", async ({ storage }) => {
      const runs = [await startRun(storage), await startRun(storage)];
      const append = ({ session_id, lease }: StartedRun, ...more: NewEvent[]) =>
        storage.appendEvents({ session_id, lease, events: [token(lease.run_id, "m", 0), ...more] });
      for (const run of runs) expect(await append(run)).toMatchObject([{ id: 1 }]);
      for (const run of runs) {
        const { run_id } = run.lease;
        const again = await append(run, token("more", "m", 1));
        expect(again).toMatchObject([{ id: 1, run_id, data: { content: run_id } }, { id: 2 }]);
      }
    });
  });
}
