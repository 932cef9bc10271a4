import { describe, expect, it } from "vitest";
import type { Storage } from "../storage.ts";
import type { OpenStorage } from "./open-storage-fixture.ts";
import { withStorage } from "./with-storage.ts";

/** Misspelt, as they come from code without types, or through a variable of a wider type. */
const TYPO = { scopes: { user: "b" } } as object;

const ASK: [string, (storage: Storage) => Promise<unknown>][] = [
  ["listSessions", (storage) => storage.listSessions(TYPO)],
  ["countSessions", (storage) => storage.countSessions(TYPO)],
  ["listSpokenMessages", (storage) => storage.listSpokenMessages(TYPO)],
  ["listSpokenMessages, of a page", (storage) => storage.listSpokenMessages({}, TYPO)],
  ["getMessage", (storage) => storage.getMessage("m", TYPO)],
  ["getMessagesBySession", (storage) => storage.getMessagesBySession("s", TYPO)],
  ["listRuns", (storage) => storage.listRuns("s", TYPO)],
  ["countRuns", (storage) => storage.countRuns("s", TYPO)],
  ["listWaitingRuns", (storage) => storage.listWaitingRuns(TYPO)],
  ["claimRun", (storage) => storage.claimRun({ owner: "o", lease_ms: 1, ...TYPO })],
  ["listDeliveries", (storage) => storage.listDeliveries(TYPO)],
  ["countDeliveries", (storage) => storage.countDeliveries(TYPO)],
  ["readEvents", (storage) => storage.readEvents({ session_id: "s", ...TYPO })],
  ["countEvents", (storage) => storage.countEvents({ session_id: "s", ...TYPO })],
  ["getArtifact", (storage) => storage.artifacts.getArtifact("a", TYPO)],
  ["listArtifacts", (storage) => storage.artifacts.listArtifacts({}, TYPO)],
  ["listArtifacts, of a reader", (storage) => storage.artifacts.listArtifacts(TYPO)],
  ["deleteArtifact", (storage) => storage.artifacts.deleteArtifact("a", TYPO)],
  ["listTasks", (storage) => storage.tasks.listTasks(TYPO)],
  ["getUsage", (storage) => storage.usage.getUsage({ group_by: "day", ...TYPO })],
  ["readTimeline", (storage) => storage.timeline.readTimeline("s", TYPO)],
  ["listApiKeys", (storage) => storage.apiKeys.listApiKeys(TYPO)],
  ["the store's search", async (storage) => (await storage.getStore()).search([], TYPO)],
  ["a chat's getMessages", async (storage) => (await storage.getChatStore()).getMessages("u", "c", TYPO)],
  ["the checkpointer's list", async (storage) => (await storage.getCheckpointer()).list({}, TYPO).next()],
];

export function unknownFilterContract(open: OpenStorage): void {
  describe("a filter that there is not is refused, and named: it would show what is every scope's", () => {
    it.each(ASK)("by %s", (_, ask) =>
      withStorage(open, async ({ storage }) => {
        const refused = { code: "validation_failed", message: expect.stringContaining("by scopes;") };
        await expect(ask(storage)).rejects.toMatchObject(refused);
      })(),
    );
  });
}
