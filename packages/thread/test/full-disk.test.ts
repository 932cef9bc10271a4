import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { createTempDir } from "../../../testing/temp-dir.ts";
import { openStorage } from "../src/index.ts";

it("a database that reads and does not write is not healthy, says why, and is again once there is room", async () => {
  const dir = createTempDir();
  onTestFinished(() => dir.remove());
  let full = false;
  const failpoint = (point: string) => {
    if (!full || point !== "commit") return;
    throw Object.assign(new Error("database or disk is full"), { code: "ERR_SQLITE_ERROR", errcode: 13 });
  };
  const storage = await openStorage({ uri: join(dir.path, "state.db"), failpoint });
  onTestFinished(() => storage.close());
  const { id } = await storage.createSession({});
  full = true;
  const refused = { code: "storage_unavailable", message: expect.stringContaining("no room left") };
  await expect(storage.createRun({ session_id: id })).rejects.toMatchObject(refused);
  expect(await storage.getSession(id)).toMatchObject({ id });
  expect(await storage.healthCheck()).toMatchObject({ ok: false, error: expect.stringContaining("make room") });
  full = false;
  expect(await storage.healthCheck()).toMatchObject({ ok: true });
  expect((await storage.createRun({ session_id: id })).created).toBe(true);
});
