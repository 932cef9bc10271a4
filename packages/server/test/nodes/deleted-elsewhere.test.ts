import { existsSync } from "node:fs";
import { join } from "node:path";
import { openStorage } from "@cognition/thread";
import { describe, expect, it, onTestFinished } from "vitest";
import { createMigratedDatabase } from "../../../thread/test/migrated-database.ts";
import { readEvents } from "../http/read-events.ts";
import { startTestServer, type TestServer } from "../http/test-server.ts";

const PATIENCE = { timeout: 40_000 };

/** Two nodes on one PostgreSQL, each with a workspace root of its own. */
async function startNodes(): Promise<[TestServer, TestServer]> {
  const database = await createMigratedDatabase();
  onTestFinished(database.drop);
  const start = async (poll_ms: number) => {
    const storage = await openStorage({ uri: database.url, pool: { min: 0, max: 4 } });
    onTestFinished(() => storage.close());
    return startTestServer({ storage, engine: { poll_ms, lease_ms: 60_000 } });
  };
  // The second claims nothing of what the first one is told of.
  const [first, second] = [await start(20), await start(600_000)];
  await untilHeard(first, second);
  return [first, second];
}

/** Hints reach the one from the other: until its connection is there, they would be lost on it. */
async function untilHeard({ storage }: TestServer, { storage: other }: TestServer): Promise<void> {
  const heard = new Set<string>();
  const stop = await storage.watchDeletions((id) => heard.add(id));
  const deleted = async () => {
    const { id } = await other.createSession({});
    await other.deleteSession(id);
    return heard.size;
  };
  await expect.poll(deleted, PATIENCE).toBeGreaterThan(0);
  stop();
}

function say(node: TestServer, id: string, content: string): Promise<Response> {
  return node.fetch(`/sessions/${id}/messages`, { method: "POST", json: { content } });
}

async function deleteThrough(node: TestServer, id: string): Promise<void> {
  expect((await node.fetch(`/sessions/${id}`, { method: "DELETE" })).status).toBe(204);
}

describe("a session that is deleted through another node", () => {
  it("takes the folder that this node made for it along", async () => {
    const [first, second] = await startNodes();
    const { id } = await first.createSession();
    await readEvents(await say(first, id, "Create a file named notes.txt containing exactly the word hello"));
    expect(existsSync(join(first.root, id, "notes.txt"))).toBe(true);
    await deleteThrough(second, id);
    await expect.poll(() => existsSync(join(first.root, id)), PATIENCE).toBe(false);
    expect(first.faults).toEqual([]);
  });

  it("stops the run that works here first", async () => {
    const [first, second] = await startNodes();
    const { id } = await first.createSession();
    const stream = await say(first, id, "Run the command: sleep 600");
    await expect.poll(() => first.server.runtime.engine.active.length, PATIENCE).toBe(1);
    await deleteThrough(second, id);
    await expect.poll(() => first.server.runtime.engine.active, PATIENCE).toEqual([]);
    await expect.poll(() => existsSync(join(first.root, id)), PATIENCE).toBe(false);
    await stream.body?.cancel();
  });
});
