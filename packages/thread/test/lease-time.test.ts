import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { claim, endOf, LEASE_MS, startRun } from "../src/conformance/started-run.ts";
import { openStorage } from "../src/open-storage.ts";
import type { Storage } from "../src/storage.ts";
import { databases, type TestedDatabase } from "./databases.ts";

const HOURS_MS = 3 * 3_600_000;

describe.each(databases)("a clock that was put back, on $name", ({ create }) => {
  let database: TestedDatabase;
  let storage: Storage;
  beforeEach(async () => {
    database = await create();
    storage = await openStorage(database.uri);
  });
  afterEach(async () => {
    await storage.close();
    await database.remove();
  });

  /** As it was left by a clock that was ahead by that much. */
  async function putOn(column: "threads.lease_until" | "deliveries.claimed_until", ms: number): Promise<void> {
    const [table, name] = column.split(".");
    const db = database.open();
    await db.atomic([{ sql: `update ${table} set ${name} = ${name} + ${ms}`, params: [] }]);
    await db.close();
  }

  test("by hours keeps no session: its run is taken over, and the one who had it is refused", async () => {
    const { session_id, lease } = await startRun(storage);
    await putOn("threads.lease_until", HOURS_MS);
    const taken = await claim(storage);
    expect(taken).toMatchObject({ run_id: lease.run_id, epoch: lease.epoch + 1 });
    expect(await storage.renewLease(lease, LEASE_MS)).toBe("lost");
    await expect(storage.finishRun(lease, endOf("succeeded"))).rejects.toMatchObject({ code: "stale_epoch" });
    await storage.finishRun(taken, endOf("succeeded"));
    expect(await storage.listRuns(session_id)).toMatchObject([{ status: "succeeded" }]);
  });

  test("by the little that clocks are set right by ends no lease", async () => {
    const { lease } = await startRun(storage);
    await putOn("threads.lease_until", 20_000);
    expect(await storage.claimRun({ owner: "other", lease_ms: LEASE_MS })).toBeNull();
    expect(await storage.renewLease(lease, LEASE_MS)).toBe("held");
  });

  test("by hours keeps no thread from its end", async () => {
    const { session_id } = await startRun(storage);
    const saver = await storage.getCheckpointer();
    const thread_id = (await storage.getSession(session_id))?.thread_id ?? "";
    await saver.setThreadTtl(thread_id, 0);
    expect(await saver.sweepExpired()).toEqual([]);
    await putOn("threads.lease_until", HOURS_MS);
    expect(await saver.sweepExpired()).toEqual([thread_id]);
  });

  test("by hours keeps no callback from being sent", async () => {
    const { lease } = await startRun(storage);
    const delivery = { url: "https://example.com/", payload: {} };
    await storage.finishRun(lease, { ...endOf("succeeded"), delivery });
    const once = () => storage.claimDeliveries({ limit: 1, lease_ms: LEASE_MS });
    expect([await once(), await once()]).toMatchObject([[{ run_id: lease.run_id }], []]);
    await putOn("deliveries.claimed_until", HOURS_MS);
    expect(await once()).toMatchObject([{ run_id: lease.run_id }]);
  });
});
