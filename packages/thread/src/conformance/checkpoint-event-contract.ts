import { describe, expect, it, vi } from "vitest";
import { LEASE, type WriterLease } from "../checkpoint/lease.ts";
import { threadConfig } from "./checkpoint-graph.ts";
import { elsewhere, put } from "./checkpoint-line.ts";
import { collect } from "./collect.ts";
import type { OpenStorage } from "./open-storage-fixture.ts";
import { answering, human, rowIds } from "./projected-conversation.ts";
import { idsOf, startRun, token, upTo } from "./started-run.ts";
import { withStorage } from "./with-storage.ts";

/** What a step has told goes into the log with the checkpoint that ends it, or not at all. */
export function checkpointEventContract(open: OpenStorage): void {
  const test = (name: string, body: Parameters<typeof withStorage>[1]) => it(name, withStorage(open, body));

  describe("events of a checkpoint", () => {
    test("are committed with it, numbered without gaps, told to the run and to who follows", async ({
      storage,
      second,
    }) => {
      const { session_id, lease } = await startRun(storage);
      const other = second ? await second() : storage;
      const saver = await storage.getCheckpointer();
      const followed = [storage, other].map((each) =>
        collect(each.followEvents({ session_id, after: 0 }), (events) => events.length === 9),
      );
      const committed = vi.fn();
      let n = 0;
      const takeEvents: WriterLease["takeEvents"] = ({ checkpoint_id }) => [
        token(`${++n}`),
        { event: "custom", data: { checkpoint_id } },
      ];
      await storage.appendEvents({ session_id, lease, events: [token("before")] });
      const configurable = { [LEASE]: { ...lease, takeEvents, committed } satisfies WriterLease };
      await answering(saver).invoke({ messages: [human("q")] }, threadConfig(lease.thread_id, configurable));
      for (const each of followed) expect(idsOf(await each)).toEqual(upTo(9));
      expect(committed.mock.calls.flatMap(([ids]) => ids)).toEqual([2, 3, 4, 5, 6, 7, 8, 9]);
      const { events } = await other.readEvents({ session_id });
      expect(events.map(({ run_id }) => run_id)).toEqual(upTo(9).map(() => lease.run_id));
    });

    test("that can't be stored take the checkpoint with them", async ({ storage }) => {
      const { session_id, lease } = await startRun(storage);
      const saver = await storage.getCheckpointer();
      const first = await put(saver, lease.thread_id, { n: 1, messages: [human("a")] });
      const takeEvents = () => [token("ok"), { event: "custom" as const, data: { n: 1n } }];
      const configurable = { [LEASE]: { ...lease, takeEvents } };
      const refused = put(saver, first, { n: 2, messages: [human("a"), human("b")] }, { configurable });
      await expect(refused).rejects.toMatchObject({ code: "unserializable_value" });
      expect(await storage.lastEventId(session_id)).toBe(0);
      expect((await saver.getTuple(threadConfig(lease.thread_id)))?.checkpoint.channel_values["n"]).toBe(1);
      expect(await rowIds(storage, session_id)).toEqual(["a"]);
    });

    test("are written once when what the checkpoint counted on was swept meanwhile", async ({ storage, second }) => {
      const { session_id, lease } = await startRun(storage);
      const saver = await storage.getCheckpointer();
      const other = await elsewhere(storage, second);
      let taken = 0;
      const takeEvents = () => (taken++ === 0 ? [token("only once")] : []);
      const list = upTo(20).map((n) => human(`${n}`));
      const first = await put(saver, lease.thread_id, { list });
      const empty = await put(saver, first, { list: [] });
      await other.prune({ thread_id: lease.thread_id });
      const configurable = { [LEASE]: { ...lease, takeEvents } };
      await put(saver, empty, { list }, { configurable });
      expect((await storage.readEvents({ session_id })).events).toMatchObject([
        { id: 1, data: { content: "only once" } },
      ]);
    });
  });
}
