import { AppError } from "@cognition/contract";
import { openStorage, type Storage } from "@cognition/thread";
import { expect, it, onTestFinished } from "vitest";
import { startHeartbeat } from "../../src/run/heartbeat.ts";

const LEASE_MS = 150;

/** A run under a lease, and a storage that can't be asked about it while `isAway`. */
async function startLease(isAway: () => boolean) {
  const storage = await openStorage("memory");
  const { id: session_id } = await storage.createSession({});
  await storage.createRun({ session_id });
  const since = performance.now();
  const lease = await storage.claimRun({ owner: "test", lease_ms: LEASE_MS });
  if (!lease) throw new Error("nothing to claim");
  /** `renewed` is when that was last asked for which then succeeded: a busy machine may bring the answer much later. */
  const told = { renewed: 0, lost: [] as { error: AppError; after: number }[], since };
  const renewLease: Storage["renewLease"] = async (...of) => {
    if (isAway()) throw new AppError("storage_unavailable", "away");
    const asked = performance.now();
    const state = await storage.renewLease(...of);
    told.renewed = asked;
    return state;
  };
  const onLost = (error: AppError) => told.lost.push({ error, after: performance.now() });
  const onAbort = () => undefined;
  const heartbeat = startHeartbeat({ storage: { renewLease }, lease, lease_ms: LEASE_MS, since, onLost, onAbort });
  onTestFinished(async () => {
    heartbeat.stop();
    await storage.close();
  });
  return told;
}

it("a lease is lost, once, when the storage could not be asked about it for as long as it lasts", async () => {
  const told = await startLease(() => true);
  await expect.poll(() => told.lost).toMatchObject([{ error: { code: "storage_unavailable" } }]);
  expect((told.lost[0]?.after ?? 0) - told.since).toBeGreaterThan(LEASE_MS);
});

it("that time begins with each renewal", async () => {
  let away = false;
  const told = await startLease(() => away);
  await expect.poll(() => told.renewed - told.since).toBeGreaterThan(LEASE_MS * 2);
  expect(told.lost).toEqual([]);
  away = true;
  await expect.poll(() => told.lost).toHaveLength(1);
  expect((told.lost[0]?.after ?? 0) - told.renewed).toBeGreaterThan(LEASE_MS * 0.9);
});
