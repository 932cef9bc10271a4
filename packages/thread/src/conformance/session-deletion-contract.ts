import { describe, expect, it } from "vitest";
import { putCheckpoint, readCheckpoint } from "./checkpoints.ts";
import { finishRunWithDelivery } from "./finished-run.ts";
import type { OpenStorage } from "./open-storage-fixture.ts";
import { withStorage } from "./with-storage.ts";

const ACCEPTED = { status_code: 200, error: null, ok: true } as const;
const FAILED = { status_code: 500, error: "no", ok: false } as const;

interface Owed {
  session_id: string;
  id: string;
}

export function sessionDeletionContract(open: OpenStorage): void {
  const test = (name: string, body: Parameters<typeof withStorage>[1]) => it(name, withStorage(open, body));

  describe("deleteSession", () => {
    test("takes the session and its messages, and nothing of others", async ({ storage }) => {
      const kept = await storage.createSession({});
      const gone = await storage.createSession({});
      for (const { id } of [kept, gone])
        await storage.createMessage({ session_id: id, id: "m", role: "user", content: "hi" });
      expect(await storage.deleteSession(gone.id)).toBe(true);
      expect(await storage.getSession(gone.id)).toBeNull();
      expect(await storage.listMessagesForSession(gone.id)).toEqual([]);
      expect(await storage.getMessage("m")).toMatchObject({ session_id: kept.id });
      expect(await storage.getSession(kept.id)).toMatchObject({ message_count: 1 });
      expect(await storage.deleteSession(gone.id)).toBe(false);
    });

    test("is remembered; what was never there, or is there again, is not taken for deleted", async ({
      storage,
      second,
    }) => {
      const [gone, kept] = [await storage.createSession({ scopes: { user: "ann" } }), await storage.createSession({})];
      await storage.deleteSession(gone.id);
      const asked = [gone.id, kept.id, crypto.randomUUID(), gone.thread_id];
      expect(await (second ? await second() : storage).findDeletedSessions(asked)).toEqual([gone.id]);
      expect(await storage.findDeletedSessions([])).toEqual([]);
      await storage.createSession({ id: gone.id });
      expect(await storage.findDeletedSessions(asked)).toEqual([]);
    });

    test("is false for an unknown session and another scope's, which stays", async ({ storage }) => {
      const session = await storage.createSession({ scopes: { user: "ann" } });
      expect(await storage.deleteSession("unknown")).toBe(false);
      expect(await storage.deleteSession(session.id, { user: "bob" })).toBe(false);
      expect(await storage.deleteSession(session.id, {})).toBe(false);
      expect(await storage.getSession(session.id)).toEqual(session);
      expect(await storage.deleteSession(session.id, { user: "ann" })).toBe(true);
    });

    test("the thread stays deleted: no message, no event and no new session gets onto it", async ({
      storage,
      reopen,
    }) => {
      const { id, thread_id } = await storage.createSession({});
      await storage.deleteSession(id);
      const after = reopen ? await reopen() : storage;
      const message = { session_id: id, role: "user", content: "late" } as const;
      await expect(after.createMessage(message)).rejects.toMatchObject({ code: "session_not_found" });
      await expect(after.createSession({ thread_id })).rejects.toMatchObject({ code: "thread_deleted" });
      await expect(after.createSession({ id, thread_id })).rejects.toMatchObject({ code: "thread_deleted" });
      expect(await after.countSessions()).toBe(0);
    });

    test("takes the checkpoints, and refuses those that come late", async ({ storage, second }) => {
      const { id, thread_id } = await storage.createSession({});
      await putCheckpoint(storage, thread_id);
      await (second ? await second() : storage).deleteSession(id);
      expect(await readCheckpoint(storage, thread_id)).toBeUndefined();
      await expect(putCheckpoint(storage, thread_id)).rejects.toMatchObject({ code: "thread_deleted" });
      expect(await readCheckpoint(storage, thread_id)).toBeUndefined();
    });

    test("of two at once one deletes", async ({ storage, second }) => {
      const other = second ? await second() : storage;
      const { id } = await storage.createSession({});
      const results = await Promise.all([
        storage.deleteSession(id),
        other.deleteSession(id),
        storage.deleteSession(id),
      ]);
      expect(results.filter(Boolean)).toHaveLength(1);
    });

    test("messages that come at the same time are kept by nobody", async ({ storage, second }) => {
      const other = second ? await second() : storage;
      const { id } = await storage.createSession({});
      const messages = Array.from(
        { length: 20 },
        (_, n) => ({ session_id: id, role: "user", content: `${n}` }) as const,
      );
      const writes = messages.map((message) => storage.createMessage(message).catch((reason) => reason));
      const deleted = other.deleteSession(id);
      for (const outcome of await Promise.all(writes)) {
        if (outcome instanceof Error)
          expect(["session_not_found", "thread_deleted"]).toContain((outcome as { code?: string }).code);
      }
      expect(await deleted).toBe(true);
      expect(await storage.listMessagesForSession(id)).toEqual([]);
    });

    test("takes runs, events and scratch artifacts; other artifacts stay, and deliveries that are still owed", async ({
      storage,
    }) => {
      const delivery = { url: "https://example.com/hook", payload: { status: "done" } };
      const { session_id, run_id } = await finishRunWithDelivery(storage, delivery);
      const artifact = { session_id, content: "text", visibility: "public" } as const;
      const scratch = await storage.artifacts.createArtifact({ ...artifact, name: "s", artifact_type: "scratch" });
      const lasting = await storage.artifacts.createArtifact({ ...artifact, name: "a", artifact_type: "artifact" });
      expect(await storage.deleteSession(session_id)).toBe(true);
      await expect(storage.getRun(run_id)).rejects.toMatchObject({ code: "run_not_found" });
      expect(await storage.listRuns(session_id)).toEqual([]);
      await expect(storage.artifacts.getArtifact(scratch.id, {})).rejects.toMatchObject({ code: "artifact_not_found" });
      expect(await storage.artifacts.getArtifact(lasting.id, {})).toMatchObject({ id: lasting.id });
      expect(await storage.listDeliveries({ session_id })).toMatchObject([{ status: "pending", ...delivery }]);
    });

    test("takes the deliveries that are done; one that is owed goes with its last attempt", async ({ storage }) => {
      const delivery = { url: "https://example.com/hook", payload: { output: "what was said" } };
      const sessions = await Promise.all(["delivered", "dead", "later", "never", "kept"].map(ofOne));
      const [delivered, dead, later, never, kept] = sessions as [Owed, Owed, Owed, Owed, Owed];
      for (const { id } of [delivered, kept]) await storage.recordAttempt(id, ACCEPTED);
      await storage.recordAttempt(dead.id, FAILED);
      for (const { session_id } of [delivered, dead, later, never]) await storage.deleteSession(session_id);
      await expect(storage.getDelivery(delivered.id)).rejects.toMatchObject({ code: "delivery_not_found" });
      await expect(storage.redeliver(dead.id)).rejects.toMatchObject({ code: "delivery_not_found" });
      const claimed = await storage.claimDeliveries({ limit: 10, lease_ms: 60_000 });
      expect(claimed.map(({ id }) => id).sort()).toEqual([later.id, never.id].sort());
      expect(claimed).toMatchObject([delivery, delivery]);
      await storage.recordAttempt(later.id, { ...FAILED, next_attempt_ms: 0 });
      expect(await storage.getDelivery(later.id)).toMatchObject(delivery);
      expect(await storage.recordAttempt(later.id, ACCEPTED)).toMatchObject({ status: "delivered", ...delivery });
      expect(await storage.recordAttempt(never.id, FAILED)).toMatchObject({ status: "dead" });
      expect((await storage.listDeliveries()).map(({ id }) => id)).toEqual([kept.id]);

      async function ofOne(): Promise<Owed> {
        const { session_id } = await finishRunWithDelivery(storage, delivery);
        const [made] = await storage.listDeliveries({ session_id });
        return { session_id, id: made?.id ?? "" };
      }
    });

    test("leaves no delivery that is told as done at the same time", async ({ storage, second }) => {
      const other = second ? await second() : storage;
      for (let round = 0; round < 20; round++) {
        const { session_id } = await finishRunWithDelivery(storage, { url: "https://example.com/hook", payload: {} });
        const [made] = await storage.listDeliveries({ session_id });
        await Promise.all([other.recordAttempt(made?.id ?? "", ACCEPTED), storage.deleteSession(session_id)]);
      }
      expect(await storage.countDeliveries()).toBe(0);
    });
  });
}
