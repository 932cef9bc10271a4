import { readdirSync } from "node:fs";
import type { CheckpointDiff, Session } from "@cognition/contract";
import { openStorage } from "@cognition/thread";
import { expect, inject, it, onTestFinished } from "vitest";
import { createDatabase } from "../../../../testing/database.ts";
import { readEvents } from "../http/read-events.ts";
import { startTestServer, type TestServer } from "../http/test-server.ts";

/** Two nodes on one PostgreSQL, each with a workspace root of its own; each works on what is sent to it. */
async function startNodes(): Promise<[TestServer, TestServer]> {
  const database = await createDatabase(inject("postgresUrl"));
  onTestFinished(database.drop);
  const start = async () => {
    const storage = await openStorage({ uri: database.url, pool: { min: 0, max: 4 } });
    onTestFinished(() => storage.close());
    return startTestServer({ storage, engine: { poll_ms: 600_000, lease_ms: 60_000 } });
  };
  return [await start(), await start()];
}

async function say(node: TestServer, id: string, content: string): Promise<void> {
  await readEvents(await node.fetch(`/sessions/${id}/messages`, { method: "POST", json: { content } }));
}

async function changedSince(node: TestServer, id: string, checkpoint_id: string): Promise<string[]> {
  const response = await node.fetch(`/sessions/${id}/checkpoints/${checkpoint_id}/diff`);
  const { files } = (await response.json()) as CheckpointDiff;
  return files.map(({ change, path }) => `${change} ${path}`);
}

async function headOf({ storage }: TestServer, id: string): Promise<string> {
  const [head] = await storage.timeline.readTimeline(id, { limit: 1 });
  return head?.checkpoint_id ?? "";
}

it("what has changed until now is the same on every node, whichever worked on the session last", async () => {
  const [first, second] = await startNodes();
  const { id } = await first.createSession();
  await say(second, id, "Create a file named one.txt containing exactly the word one");
  const before = await headOf(first, id);
  await say(first, id, "Create a file named two.txt containing exactly the word two");
  const now = await headOf(first, id);
  for (const node of [first, second]) {
    expect(await changedSince(node, id, before)).toEqual(["added two.txt"]);
    expect(await changedSince(node, id, now)).toEqual([]);
  }
});

it("a fork of now has the files of the node that worked on the session last", async () => {
  const [first, second] = await startNodes();
  const { id } = await first.createSession();
  await say(second, id, "Create a file named one.txt containing exactly the word one");
  await say(first, id, "Create a file named two.txt containing exactly the word two");
  const response = await second.fetch(`/sessions/${id}/fork`, { method: "POST", json: {} });
  const { workspace_path } = (await response.json()) as Session;
  expect(readdirSync(workspace_path ?? "").sort()).toEqual(["one.txt", "two.txt"]);
});
