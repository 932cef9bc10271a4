import { AppError } from "@cognition/contract";
import { describe, expect, it } from "vitest";
import { LEASE } from "../src/checkpoint/lease.ts";
import { idsOf, LEASE_MS, readAll, token } from "../src/conformance/started-run.ts";
import { openStorage } from "../src/open-storage.ts";
import type { ClaimedRun, Lease } from "../src/run-store.ts";
import { databases } from "./databases.ts";

describe.each(databases)("a commit whose answer is lost, on $name", ({ create }) => {
  it("is settled by sending the same events again", async () => {
    const { uri, remove } = await create();
    let losing = false;
    const failpoint = (point: string) => {
      if (losing && point === "committed") throw new Error("the line went dead");
    };
    const storage = await openStorage({ uri, failpoint });
    try {
      const { id: session_id } = await storage.createSession({});
      await storage.createRun({ session_id });
      const lease = (await storage.claimRun({ owner: "w", lease_ms: LEASE_MS })) as Lease;
      const append = { session_id, lease, events: [token("a", "m", 0), token("b", "m", 1)] };
      losing = true;
      await expect(storage.appendEvents(append)).rejects.toThrow("the line went dead");
      losing = false;
      expect(idsOf(await readAll(storage, session_id))).toEqual([1, 2]);
      expect(idsOf(await storage.appendEvents(append))).toEqual([1, 2]);
      expect(await storage.appendEvents({ session_id, lease, events: [token("c", "m", 2)] })).toMatchObject([
        { id: 3 },
      ]);
    } finally {
      await storage.close();
      await remove();
    }
  });

  it("ends what is stored under the lease, also after another look at the thread: its log would lack an event", async () => {
    const { uri, remove } = await create();
    let losing = false;
    const failpoint = (point: string) => {
      if (losing && point === "committed") throw new AppError("storage_unavailable", "the line went dead");
    };
    const storage = await openStorage({ uri, failpoint });
    try {
      const { id: session_id } = await storage.createSession({});
      await storage.createRun({ session_id });
      const lease = (await storage.claimRun({ owner: "w", lease_ms: LEASE_MS })) as ClaimedRun;
      const { thread_id } = lease;
      const saver = await storage.getCheckpointer();
      losing = true;
      const lost = { code: "storage_unavailable" };
      await expect(saver.appendEvents(thread_id, lease, [token("a", "m", 0)])).rejects.toMatchObject(lost);
      losing = false;
      await saver.getTuple({ configurable: { thread_id, [LEASE]: lease } });
      await expect(saver.appendEvents(thread_id, lease, [token("b", "m", 1)])).rejects.toMatchObject(lost);
      await expect(saver.flush(thread_id, lease)).rejects.toMatchObject(lost);
    } finally {
      await storage.close();
      await remove();
    }
  });
});
