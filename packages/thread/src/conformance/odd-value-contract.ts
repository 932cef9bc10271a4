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
  });
}
