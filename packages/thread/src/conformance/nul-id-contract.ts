import { describe, expect, it } from "vitest";
import type { Storage } from "../storage.ts";
import { threadConfig } from "./checkpoint-graph.ts";
import type { OpenStorage } from "./open-storage-fixture.ts";
import { token } from "./started-run.ts";
import { withStorage } from "./with-storage.ts";

const ID = "a\0b";
const LEASE = { run_id: ID, epoch: 1 };
const code = (name: string) => ({ code: name });

/** What each method says of an id that is nobody's. Ids come from outside, and any text may be one. */
const NOTHING: [string, (storage: Storage) => Promise<unknown>, unknown][] = [
  ["getSession", (storage) => storage.getSession(ID), null],
  ["updateSession", (storage) => storage.updateSession(ID, { title: "t" }), null],
  ["deleteSession", (storage) => storage.deleteSession(ID), false],
  ["getMessage", (storage) => storage.getMessage(ID), null],
  ["getMessagesBySession", (storage) => storage.getMessagesBySession(ID), { messages: [], total: 0 }],
  ["listMessagesForSession", (storage) => storage.listMessagesForSession(ID), []],
  ["listRuns", (storage) => storage.listRuns(ID), []],
  ["countRuns", (storage) => storage.countRuns(ID), 0],
  ["claimRun", (storage) => storage.claimRun({ owner: "o", lease_ms: 1, session_id: ID }), null],
  ["renewLease", (storage) => storage.renewLease(LEASE, 1), "lost"],
  ["listToolCalls", (storage) => storage.listToolCalls(ID), []],
  ["getTuple", async (storage) => (await storage.getCheckpointer()).getTuple(threadConfig(ID)), undefined],
  [
    "prune",
    async (storage) => (await storage.getCheckpointer()).prune({ thread_id: ID }),
    { threads: 0, checkpoints: 0, pieces: 0 },
  ],
];

const REFUSALS: [string, (storage: Storage) => Promise<unknown>, string][] = [
  [
    "createMessage",
    (storage) => storage.createMessage({ session_id: ID, role: "user", content: "c" }),
    "session_not_found",
  ],
  ["createRun", (storage) => storage.createRun({ session_id: ID }), "session_not_found"],
  ["getRun", (storage) => storage.getRun(ID), "run_not_found"],
  ["appendEvents", (storage) => storage.appendEvents({ session_id: ID, events: [token("t")] }), "session_not_found"],
  ["releaseRun", (storage) => storage.releaseRun(LEASE), "run_not_found"],
  ["resumeRun", (storage) => storage.resumeRun(ID, {}), "run_not_found"],
  ["getDelivery", (storage) => storage.getDelivery(ID), "delivery_not_found"],
  ["threadSize", async (storage) => (await storage.getCheckpointer()).threadSize(ID), "thread_not_found"],
  ["copyThread", async (storage) => (await storage.getCheckpointer()).copyThread(ID, "to"), "thread_not_found"],
];

export function nulIdContract(open: OpenStorage): void {
  describe("an id with a U+0000 in it is not found", () => {
    it.each(NOTHING)("by %s", (_, ask, nothing) =>
      withStorage(open, async ({ storage }) => expect(await ask(storage)).toEqual(nothing))(),
    );

    it.each(REFUSALS)("by %s", (_, ask, refusal) =>
      withStorage(open, async ({ storage }) => {
        await expect(ask(storage)).rejects.toMatchObject(code(refusal));
      })(),
    );
  });
}
