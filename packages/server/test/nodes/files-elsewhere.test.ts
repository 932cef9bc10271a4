import { readdirSync } from "node:fs";
import type { CheckpointDiff, Session } from "@cognition/contract";
import { openStorage } from "@cognition/thread";
import { expect, it, onTestFinished } from "vitest";
import { createMigratedDatabase } from "../../../thread/test/migrated-database.ts";
import { readEvents } from "../http/read-events.ts";
import { startTestServer, type TestServer } from "../http/test-server.ts";

/** Two nodes on one PostgreSQL, each with a workspace root of its own; each works on what is sent to it. */
async function startNodes(): Promise<[TestServer, TestServer]> {
  const database = await createMigratedDatabase();
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

async function namesOn(node: TestServer, id: string): Promise<string[]> {
  const { files } = (await (await node.fetch(`/sessions/${id}/files`)).json()) as { files: { path: string }[] };
  return files.map(({ path }) => path).sort();
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

it("what is put or deleted on one node is there on every node, and for the agent wherever it works", async () => {
  const [first, second] = await startNodes();
  const { id } = await first.createSession();
  const at = (path: string) => `/sessions/${id}/files/${path}`;
  await say(second, id, "Create a file named one.txt containing exactly the word one");
  await first.fetch(at("two.txt"), { method: "PUT", body: "two" });
  expect(await (await second.fetch(at("two.txt"))).text()).toBe("two");
  await first.fetch(at("one.txt"), { method: "DELETE" });
  await say(second, id, "Create a file named three.txt containing exactly the word three");
  expect([await namesOn(first, id), await namesOn(second, id)]).toEqual(Array(2).fill(["three.txt", "two.txt"]));
});

it("files of a session that another node is at work on are not changed, and the answer says so", {
  tags: "long",
}, async () => {
  const [first, second] = await startNodes();
  const { id } = await first.createSession();
  const run = second.fetch(`/sessions/${id}/messages`, {
    method: "POST",
    json: { content: "Run the command: sleep 3" },
  });
  await expect.poll(async () => (await first.storage.getSession(id))?.active_run_id ?? null).not.toBeNull();
  const refused = await first.fetch(`/sessions/${id}/files/a.txt`, { method: "PUT", body: "a" });
  expect([refused.status, await refused.json()]).toMatchObject([409, { code: "session_busy" }]);
  expect((await second.fetch(`/sessions/${id}/files/a.txt`, { method: "PUT", body: "a" })).status).toBe(204);
  await readEvents(await run);
  expect((await first.fetch(`/sessions/${id}/files/a.txt`, { method: "PUT", body: "b" })).status).toBe(204);
  expect(await (await second.fetch(`/sessions/${id}/files/a.txt`)).text()).toBe("b");
});
