import { describe, expect, it } from "vitest";
import type { Storage } from "../storage.ts";
import type { OpenStorage } from "./open-storage-fixture.ts";
import { withStorage } from "./with-storage.ts";

/** What code without types hands over where an id or a number is meant. */
const ODD = [undefined, {}, { a: 1 }, true, new Date(0), Number.NaN, 7n, Symbol("s")];

const ASK: [string, (storage: Storage, odd: never) => Promise<unknown>][] = [
  ["getSession", (storage, odd) => storage.getSession(odd)],
  ["getSession with a scope", (storage, odd) => storage.getSession(odd, { user: "a" })],
  ["deleteSession", (storage, odd) => storage.deleteSession(odd)],
  ["updateSession", (storage, odd) => storage.updateSession(odd, { title: "t" })],
  ["listRuns", (storage, odd) => storage.listRuns(odd)],
  ["getRun", (storage, odd) => storage.getRun(odd)],
  ["createRun", (storage, odd) => storage.createRun({ session_id: odd })],
  ["appendEvents", (storage, odd) => storage.appendEvents({ session_id: odd, events: [] })],
  ["lastEventId", (storage, odd) => storage.lastEventId(odd)],
  ["renewLease", (storage, odd) => storage.renewLease({ run_id: odd, epoch: 1 }, 1)],
  ["getDelivery", (storage, odd) => storage.getDelivery(odd)],
  ["findApiKey", (storage, odd) => storage.apiKeys.findApiKey(odd)],
  ["getProfile", (storage, odd) => storage.profiles.getProfile(odd)],
  ["readTimeline", (storage, odd) => storage.timeline.readTimeline(odd)],
];

/** Where a time, a list or one of a few words belongs. */
const WRONG: [string, (storage: Storage, id: string) => Promise<unknown>][] = [
  ["before of compactEvents", (storage) => storage.compactEvents(new Date(Number.NaN))],
  ["before of compactEvents, a text", (storage) => storage.compactEvents("2024-01-01" as never)],
  ["before of pruneBudgetUsage", (storage) => storage.budgets.pruneBudgetUsage(new Date(Number.NaN))],
  ["group_by", (storage) => storage.usage.getUsage({ group_by: "week" as never })],
  ["types of readEvents", (storage, session_id) => storage.readEvents({ session_id, types: "done" as never })],
  ["types of countEvents", (storage, session_id) => storage.countEvents({ session_id, types: "done" as never })],
  ["checkpoint_ids", (storage, id) => storage.timeline.readTimeline(id, { checkpoint_ids: "c" as never })],
  ["grace_ms", (storage) => storage.snapshots.sweepSnapshots({ scope: {}, grace_ms: 1e300 })],
];

export function oddValueContract(open: OpenStorage): void {
  describe("what is neither a text nor a number is refused, on every engine alike", () => {
    it.each(ASK)("by %s", (_, ask) =>
      withStorage(open, async ({ storage }) => {
        const { id } = await storage.createSession({ scopes: { user: "a" } });
        for (const odd of ODD)
          await expect(ask(storage, odd as never), String(odd)).rejects.toMatchObject({ code: "validation_failed" });
        expect((await storage.listSessions()).map((session) => session.id)).toEqual([id]);
      })(),
    );

    it.each(WRONG)("and named, as %s", (name, ask) =>
      withStorage(open, async ({ storage }) => {
        const { id } = await storage.createSession({});
        const [field = ""] = name.split(" ");
        const refused = { code: "validation_failed", message: expect.stringContaining(field) };
        await expect(ask(storage, id)).rejects.toMatchObject(refused);
      })(),
    );
  });
}
