import { getEventListeners } from "node:events";
import type { StoredEvent } from "@cognition/contract";
import { describe, expect, it } from "vitest";
import type { Storage } from "../storage.ts";
import { collect, inTime } from "./collect.ts";
import type { OpenStorage } from "./open-storage-fixture.ts";
import { claim, endOf, idsOf, type StartedRun, startRun, token, upTo } from "./started-run.ts";
import { withStorage } from "./with-storage.ts";

const WRITERS = 4;
const BATCHES = 25;
const BATCH = 3;

export function eventFollowContract(open: OpenStorage): void {
  const test = (name: string, body: Parameters<typeof withStorage>[1]) => it(name, withStorage(open, body));

  describe("followEvents", () => {
    test("replays what is after the id, then goes on live, over runs", async ({ storage }) => {
      const { session_id, lease } = await startRun(storage);
      await storage.appendEvents({ session_id, lease, events: upTo(3).map((n) => token(`${n}`)) });
      const live = collect(storage.followEvents({ session_id, after: 1 }), (events) => events.at(-1)?.id === 7);
      await storage.finishRun(lease, endOf("succeeded", token("4")));
      await storage.createRun({ session_id, events: [{ event: "status", data: { status: "queued" } }] });
      const next = await claim(storage);
      await storage.appendEvents({ session_id, lease: next, events: [token("7")] });
      const events = await live;
      expect(idsOf(events)).toEqual([2, 3, 4, 5, 6, 7]);
      expect(events).toEqual((await storage.readEvents({ session_id, after: 1 })).events);
    });

    test("replays a log of any length", async ({ storage }) => {
      const { session_id, lease } = await startRun(storage);
      await storage.appendEvents({ session_id, lease, events: upTo(1_001).map((n) => token(`${n}`)) });
      const events = collect(storage.followEvents({ session_id, after: 0 }), (read) => read.length === 1_001);
      expect(idsOf(await events)).toEqual(upTo(1_001));
    });

    test("each event once and in order while four writers append", async ({ storage }) => {
      await followWriters(storage, storage);
    });

    test("the same from another instance on the same data, where there can be one", async ({ storage, second }) => {
      await followWriters(storage, second ? await second() : storage);
    });

    test("a slow reader gets everything, whatever came meanwhile", async ({ storage }) => {
      const { session_id, lease } = await startRun(storage);
      const follower = storage.followEvents({ session_id, after: 0 })[Symbol.asyncIterator]();
      const first = follower.next();
      await storage.appendEvents({ session_id, lease, events: [token("1")] });
      const ids = [(await inTime("the first event", first)).value?.id];
      for (let n = 0; n < 10; n++) {
        await storage.appendEvents({ session_id, lease, events: upTo(100).map((id) => token(`${id}`)) });
      }
      while (ids.length < 1001) ids.push((await inTime("the next event", follower.next())).value?.id);
      expect(ids).toEqual(upTo(1001));
      await follower.return?.();
    });

    test("batches hand over what is there at once, and nothing twice", async ({ storage }) => {
      const { session_id, lease } = await startRun(storage);
      await storage.appendEvents({ session_id, lease, events: upTo(5).map((n) => token(`${n}`)) });
      const follower = storage.followEventBatches({ session_id, after: 1 })[Symbol.asyncIterator]();
      const first = await inTime("the replay", follower.next());
      expect(idsOf(first.value ?? [])).toEqual([2, 3, 4, 5]);
      const live = follower.next();
      await storage.appendEvents({ session_id, lease, events: [token("6"), token("7")] });
      expect(idsOf((await inTime("what is live", live)).value ?? [])).toEqual([6, 7]);
      await follower.return?.();
    });

    test("counts what a reader missed, and tells where the log ends", async ({ storage }) => {
      const { session_id, lease } = await startRun(storage);
      expect(await storage.countEvents({ session_id })).toEqual({ events: 0, folded: 0, head: 0 });
      await storage.appendEvents({ session_id, lease, events: upTo(5).map((n) => token(`${n}`)) });
      await storage.appendEvents({ session_id, events: [token("of no run")] });
      expect(await storage.countEvents({ session_id, after: 2 })).toEqual({ events: 4, folded: 0, head: 6 });
      expect(await storage.countEvents({ session_id, after: 2, run_id: lease.run_id })).toMatchObject({
        events: 3,
        head: 6,
      });
      expect(await storage.countEvents({ session_id, types: ["done"] })).toMatchObject({ events: 0, head: 6 });
      expect(await storage.countEvents({ session_id, after: 99 })).toMatchObject({ events: 0, head: 6 });
      await expect(storage.countEvents({ session_id: "none" })).rejects.toMatchObject({ code: "session_not_found" });
    });

    test("followers of one session don't hear another's, nor what came before `after`", async ({ storage }) => {
      const [one, two] = [await startRun(storage), await startRun(storage)];
      const ahead = collect(
        storage.followEvents({ session_id: one.session_id, after: 2 }),
        (events) => events.length === 1,
      );
      for (const { session_id, lease } of [two, one, two, one, one]) {
        await storage.appendEvents({ session_id, lease, events: [token(session_id)] });
      }
      expect(await ahead).toMatchObject([{ id: 3, session_id: one.session_id }]);
    });

    test("an aborted signal ends it at once and leaves no listener behind", async ({ storage }) => {
      const { session_id, lease } = await startRun(storage);
      const controller = new AbortController();
      const { signal } = controller;
      const idle = storage.followEvents({ session_id, after: 0, signal })[Symbol.asyncIterator]();
      const waiting = idle.next();
      const busy = storage.followEvents({ session_id, after: 0, signal })[Symbol.asyncIterator]();
      await storage.appendEvents({ session_id, lease, events: [token("1"), token("2")] });
      expect((await inTime("the first event", waiting)).value?.id).toBe(1);
      expect((await inTime("the first event", busy.next())).value?.id).toBe(1);
      await inTime("the second event", idle.next());
      const pending = idle.next();
      expect(getEventListeners(signal, "abort")).toHaveLength(2);
      controller.abort();
      expect(await inTime("the waiting follower's end", pending)).toMatchObject({ done: true });
      expect(await inTime("the end before an event that is there", busy.next())).toMatchObject({ done: true });
      expect(getEventListeners(signal, "abort")).toEqual([]);
      const late = storage.followEvents({ session_id, after: 0, signal })[Symbol.asyncIterator]();
      expect(await inTime("the end of what never began", late.next())).toMatchObject({ done: true });
      expect(getEventListeners(signal, "abort")).toEqual([]);
    });

    test("leaving the loop, or returning while the next event is awaited, ends it too", async ({ storage }) => {
      const { session_id, lease } = await startRun(storage);
      await storage.appendEvents({ session_id, lease, events: [token("1")] });
      const { signal } = new AbortController();
      for await (const event of storage.followEvents({ session_id, after: 0, signal })) {
        expect(event.id).toBe(1);
        break;
      }
      expect(getEventListeners(signal, "abort")).toEqual([]);
      const follower = storage.followEvents({ session_id, after: 1, signal })[Symbol.asyncIterator]();
      const pending = follower.next();
      await inTime("return", Promise.resolve(follower.return?.()));
      expect(await inTime("the end", pending)).toMatchObject({ done: true });
      expect(getEventListeners(signal, "abort")).toEqual([]);
    });

    test("closing the storage ends every follower without an error", async ({ storage }) => {
      const threads = await Promise.all(upTo(3).map(() => startRun(storage)));
      const followers = threads.map(({ session_id }) => drain(storage.followEvents({ session_id, after: 0 })));
      await Promise.all(
        threads.map(({ session_id, lease }) => storage.appendEvents({ session_id, lease, events: [token("1")] })),
      );
      await storage.close();
      for (const follower of followers)
        expect(idsOf(await inTime("the follower's end", follower)).length).toBeLessThan(2);
    });

    test("deleting the session ends it, also from elsewhere; a session that isn't there is an error", async (fixture) => {
      const { storage, second } = fixture;
      const other = second ? await second() : storage;
      const { session_id, lease } = await startRun(storage);
      await storage.appendEvents({ session_id, lease, events: [token("1")] });
      const follower = storage.followEvents({ session_id, after: 0 })[Symbol.asyncIterator]();
      expect((await inTime("the first event", follower.next())).value?.id).toBe(1);
      const pending = follower.next();
      await other.deleteSession(session_id);
      expect(await inTime("the end", pending)).toMatchObject({ done: true });
      const missing = drain(storage.followEvents({ session_id: "none", after: 0 }));
      await expect(inTime("the error", missing)).rejects.toMatchObject({ code: "session_not_found" });
    });
  });
}

async function drain(events: AsyncIterable<StoredEvent>): Promise<StoredEvent[]> {
  const taken: StoredEvent[] = [];
  for await (const event of events) taken.push(event);
  return taken;
}

/** One follower starts before the first event, one in the middle of it all. */
async function followWriters(storage: Storage, reader: Storage): Promise<void> {
  const run = await startRun(storage);
  const { session_id } = run;
  const total = WRITERS * BATCHES * BATCH;
  const follow = () => collect(reader.followEvents({ session_id, after: 0 }), (events) => events.length >= total);
  const early = follow();
  const writers = upTo(WRITERS).map((n) => write(storage, run, n));
  await writers[0];
  const late = follow();
  await Promise.all(writers);
  const expected = upTo(total);
  expect(idsOf(await early)).toEqual(expected);
  expect(idsOf(await late)).toEqual(expected);
}

async function write(storage: Storage, { session_id, lease }: StartedRun, writer: number): Promise<void> {
  for (let n = 0; n < BATCHES; n++) {
    await storage.appendEvents({
      session_id,
      lease,
      events: upTo(BATCH).map((part) => token(`${writer}.${n}.${part}`)),
    });
  }
}
