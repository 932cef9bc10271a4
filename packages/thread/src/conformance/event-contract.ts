import { describe, expect, it } from "vitest";
import type { NewEvent } from "../event-log.ts";
import type { Storage } from "../storage.ts";
import { eventCompactionContract } from "./event-compaction-contract.ts";
import { eventFollowContract } from "./event-follow-contract.ts";
import { eventRetryContract } from "./event-retry-contract.ts";
import { LONG_TEXT, ODD_TEXTS } from "./odd-text.ts";
import type { OpenStorage } from "./open-storage-fixture.ts";
import { endOf, idsOf, readAll, startRun, token, upTo } from "./started-run.ts";
import { withStorage } from "./with-storage.ts";

const HEAD_MOVED: NewEvent = { event: "head_moved", data: { head: "b", previous_head: "a" } };

export function eventContract(open: OpenStorage): void {
  const test = (name: string, body: Parameters<typeof withStorage>[1]) => it(name, withStorage(open, body));

  describe("readEvents with a scope", () => {
    test("gives the owner its events, and another scope nothing but that there is no such session", async ({
      storage,
    }) => {
      const { id: session_id } = await storage.createSession({ scopes: { user: "ann" } });
      const events = await storage.appendEvents({ session_id, events: [HEAD_MOVED] });
      expect((await storage.readEvents({ session_id, scope: { user: "ann" } })).events).toEqual(events);
      for (const scope of [{ user: "bob" }, {}, { user: "ann", project: "x" }]) {
        await expect(storage.readEvents({ session_id, scope })).rejects.toMatchObject({ code: "session_not_found" });
        await expect(storage.countEvents({ session_id, scope })).rejects.toMatchObject({ code: "session_not_found" });
      }
    });
  });

  describe("appendEvents", () => {
    test("numbers 1, 2, 3 and gives what a reader will see", async ({ storage, reopen }) => {
      const { session_id, lease } = await startRun(storage);
      const first = await storage.appendEvents({ session_id, lease, events: [token("a"), token("b")] });
      const second = await storage.appendEvents({ session_id, events: [HEAD_MOVED] });
      expect(first[0]).toEqual({
        id: 1,
        session_id,
        run_id: lease.run_id,
        event: "token",
        data: { run_id: lease.run_id, content: "a", message_id: "m" },
        created_at: expect.stringMatching(/Z$/),
      });
      expect(second).toMatchObject([{ id: 3, run_id: null, data: { run_id: null, head: "b" } }]);
      expect(await storage.appendEvents({ session_id, lease, events: [] })).toEqual([]);
      const after = reopen ? await reopen() : storage;
      expect(await readAll(after, session_id)).toEqual([...first, ...second]);
      expect(await after.lastEventId(session_id)).toBe(3);
      expect(await after.appendEvents({ session_id, lease, events: [token("c")] })).toMatchObject([{ id: 4 }]);
    });

    test("a refused batch leaves no gap and no part of it", async ({ storage }) => {
      const { session_id, lease } = await startRun(storage);
      const append = (events: NewEvent[], epoch = lease.epoch) =>
        storage.appendEvents({ session_id, lease: { run_id: lease.run_id, epoch }, events });
      await append([token("a")]);
      await expect(append([token("x")], lease.epoch - 1)).rejects.toMatchObject({ code: "stale_epoch" });
      await expect(append([token("x")], lease.epoch + 1)).rejects.toMatchObject({ code: "stale_epoch" });
      const unfit = append([token("x"), { event: "custom", data: { n: 1n } }]);
      await expect(unfit).rejects.toMatchObject({ code: "unserializable_value" });
      const end = append([token("x"), ...endOf("succeeded").events]);
      await expect(end).rejects.toMatchObject({ code: "validation_failed" });
      expect(await append([token("b")])).toMatchObject([{ id: 2 }]);
      expect(idsOf(await readAll(storage, session_id))).toEqual([1, 2]);
    });

    test("refusals among writes that share a commit touch only themselves", async ({ storage }) => {
      const { session_id, lease } = await startRun(storage);
      const stale = { run_id: lease.run_id, epoch: lease.epoch - 1 };
      const writes = Array.from({ length: 30 }, (_, n) =>
        storage.appendEvents({ session_id, lease: n % 3 === 0 ? stale : lease, events: [token(`${n}`), token("x")] }),
      );
      const settled = await Promise.allSettled(writes);
      expect(settled.filter(({ status }) => status === "rejected")).toHaveLength(10);
      expect(idsOf(await readAll(storage, session_id))).toEqual(upTo(40));
    });

    test("a session that isn't there or was deleted", async ({ storage }) => {
      const { session_id, lease } = await startRun(storage);
      const missing = { code: "session_not_found" };
      await expect(storage.appendEvents({ session_id: "none", events: [HEAD_MOVED] })).rejects.toMatchObject(missing);
      await storage.deleteSession(session_id);
      await expect(storage.appendEvents({ session_id, events: [HEAD_MOVED] })).rejects.toMatchObject(missing);
      const leased = storage.appendEvents({ session_id, lease, events: [token("x")] });
      await expect(leased).rejects.toMatchObject({ code: "run_not_found" });
      await expect(storage.readEvents({ session_id })).rejects.toMatchObject(missing);
      await expect(storage.lastEventId(session_id)).rejects.toMatchObject(missing);
    });

    test("50 at once on one thread: contiguous, each batch unbroken and in its order", async ({ storage, second }) => {
      const instances = [storage, second ? await second() : storage] as const;
      const { session_id, lease } = await startRun(storage);
      const writes = Array.from({ length: 50 }, (_, n) =>
        (instances[n % 2] as Storage).appendEvents({
          session_id,
          lease,
          events: [token(`${n}.0`), token(`${n}.1`), token(`${n}.2`)],
        }),
      );
      const stored = await Promise.all(writes);
      for (const batch of stored) expect(idsOf(batch)).toEqual([0, 1, 2].map((n) => (batch[0]?.id ?? 0) + n));
      const events = await readAll(storage, session_id);
      expect(idsOf(events)).toEqual(upTo(150));
      expect(events).toEqual(stored.flat().sort((a, b) => a.id - b.id));
    });

    test("at once over 20 threads: contiguous on each", async ({ storage, second }) => {
      const instances = [storage, second ? await second() : storage] as const;
      const threads = await Promise.all(Array.from({ length: 20 }, () => startRun(storage)));
      const writes = threads.flatMap(({ session_id, lease }) =>
        Array.from({ length: 5 }, (_, n) =>
          (instances[n % 2] as Storage).appendEvents({ session_id, lease, events: [token("a"), token("b")] }),
        ),
      );
      await Promise.all(writes);
      for (const { session_id } of threads) expect(idsOf(await readAll(storage, session_id))).toEqual(upTo(10));
    });
  });

  describe("readEvents", () => {
    test("pages after an id, and says when there is more", async ({ storage }) => {
      const { session_id, lease } = await startRun(storage);
      await storage.appendEvents({ session_id, lease, events: upTo(5).map((n) => token(`${n}`)) });
      const page = async (after: number, limit: number) => {
        const { events, has_more } = await storage.readEvents({ session_id, after, limit });
        return [idsOf(events), has_more];
      };
      expect(await page(0, 2)).toEqual([[1, 2], true]);
      expect(await page(2, 2)).toEqual([[3, 4], true]);
      expect(await page(3, 2)).toEqual([[4, 5], false]);
      expect(await page(4, 2)).toEqual([[5], false]);
      expect(await page(5, 2)).toEqual([[], false]);
      expect(await page(99, 2)).toEqual([[], false]);
      for (const bad of [{ limit: 0 }, { limit: 1.5 }, { after: -1 }, { after: Number.NaN }]) {
        await expect(storage.readEvents({ session_id, ...bad })).rejects.toMatchObject({ code: "validation_failed" });
      }
    });

    test("by type and by run, each with its own page ends", async ({ storage }) => {
      const { session_id, lease } = await startRun(storage);
      await storage.appendEvents({ session_id, events: [HEAD_MOVED] });
      await storage.finishRun(lease, endOf("succeeded", token("a"), HEAD_MOVED, token("b")));
      const read = async (query: object) => idsOf((await storage.readEvents({ session_id, ...query })).events);
      expect(await read({ types: ["token"] })).toEqual([2, 4]);
      expect(await read({ types: ["head_moved", "done"], after: 1 })).toEqual([3, 5]);
      expect(await read({ types: [] })).toEqual([]);
      expect(await read({ run_id: lease.run_id })).toEqual([2, 3, 4, 5]);
      expect(await read({ run_id: lease.run_id, types: ["head_moved"] })).toEqual([3]);
      expect(await read({ run_id: "none" })).toEqual([]);
      expect(await storage.readEvents({ session_id, types: ["token"], limit: 1 })).toMatchObject({ has_more: true });
      expect(await storage.readEvents({ session_id, types: ["token"], limit: 2 })).toMatchObject({ has_more: false });
    });

    test("odd text, U+0000 and a megabyte come back as they went in", async ({ storage, reopen }) => {
      const { session_id, lease } = await startRun(storage);
      const texts = [...ODD_TEXTS, LONG_TEXT, "nul \u0000", "half \ud83d of a pair"];
      await storage.appendEvents({ session_id, lease, events: texts.map((text) => token(text)) });
      const after = reopen ? await reopen() : storage;
      expect((await readAll(after, session_id)).map(({ data }) => (data as { content: string }).content)).toEqual(
        texts,
      );
    });
  });

  eventRetryContract(open);
  eventFollowContract(open);
  eventCompactionContract(open);
}
