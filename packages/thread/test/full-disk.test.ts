import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { createTempDir } from "../../../testing/temp-dir.ts";
import { LEASE, type WriterLease } from "../src/checkpoint/lease.ts";
import { put, read } from "../src/conformance/checkpoint-line.ts";
import { claim, endOf, NO_TIME, token } from "../src/conformance/started-run.ts";
import { openStorage } from "../src/index.ts";

const REFUSED = { code: "storage_unavailable", message: expect.stringContaining("no room left") };

/** A database whose disk can be full. */
async function openOnDisk() {
  const dir = createTempDir();
  onTestFinished(() => dir.remove());
  const disk = { full: false };
  const failpoint = (point: string) => {
    if (!disk.full || point !== "commit") return;
    throw Object.assign(new Error("database or disk is full"), { code: "ERR_SQLITE_ERROR", errcode: 13 });
  };
  const storage = await openStorage({ uri: join(dir.path, "state.db"), failpoint });
  onTestFinished(() => storage.close());
  const { id: session_id } = await storage.createSession({});
  return { storage, disk, session_id };
}

it("a database that reads and does not write is not healthy, says why, and is again once there is room", async () => {
  const { storage, disk, session_id } = await openOnDisk();
  disk.full = true;
  await expect(storage.createRun({ session_id })).rejects.toMatchObject(REFUSED);
  expect(await storage.getSession(session_id)).toMatchObject({ id: session_id });
  expect(await storage.healthCheck()).toMatchObject({ ok: false, error: expect.stringContaining("make room") });
  disk.full = false;
  expect(await storage.healthCheck()).toMatchObject({ ok: true });
  expect((await storage.createRun({ session_id })).created).toBe(true);
});

it("a run whose last step found no room has not ended, also once there is room again: another attempt does both", async () => {
  const { storage, disk, session_id } = await openOnDisk();
  const saver = await storage.getCheckpointer();
  await storage.createRun({ session_id });
  const claimed = await claim(storage, { lease_ms: NO_TIME });
  const writer: WriterLease = { ...claimed, pipelined: true };
  await put(saver, claimed.thread_id, { n: 1 }, { configurable: { [LEASE]: writer } });
  disk.full = true;
  await expect(storage.finishRun(writer, endOf("succeeded"))).rejects.toMatchObject(REFUSED);
  disk.full = false;
  await expect(storage.finishRun(writer, endOf("succeeded"))).rejects.toMatchObject(REFUSED);
  expect(await storage.getRun(claimed.run_id)).toMatchObject({ status: "running" });
  const again: WriterLease = { ...(await claim(storage)), pipelined: true };
  await put(saver, claimed.thread_id, { n: 2 }, { configurable: { [LEASE]: again } });
  expect((await storage.finishRun(again, endOf("succeeded"))).run).toMatchObject({ status: "succeeded" });
  expect(await read(saver, claimed.thread_id)).toEqual({ n: 2 });
});

it("a run that was told of no room stores nothing more, though it reads where its thread stands: what it told then is in no checkpoint", async () => {
  const { storage, disk, session_id } = await openOnDisk();
  const saver = await storage.getCheckpointer();
  await storage.createRun({ session_id });
  const { thread_id, ...writer } = await claim(storage, { lease_ms: NO_TIME });
  const leased = { configurable: { [LEASE]: writer } };
  const first = await put(saver, thread_id, { n: 1 }, leased);
  disk.full = true;
  await expect(saver.appendEvents(thread_id, writer, [token("said")])).rejects.toMatchObject(REFUSED);
  disk.full = false;
  await saver.getTuple({ configurable: { thread_id, ...leased.configurable } });
  await expect(put(saver, first, { n: 2 }, leased)).rejects.toMatchObject(REFUSED);
  const again = { configurable: { [LEASE]: await claim(storage) } };
  await put(saver, first, { n: 3 }, again);
  expect(await read(saver, thread_id)).toEqual({ n: 3 });
});
