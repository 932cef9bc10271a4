import { existsSync } from "node:fs";
import { join } from "node:path";
import { openStorage } from "@cognition/thread";
import { expect, it } from "vitest";
import { createTempDir } from "../../../../testing/temp-dir.ts";
import { defaultConfig } from "../../src/config.ts";
import { resumeSession } from "../../src/session/resume-session.ts";
import { dataOf, eventsOf, type Started, send, startRuntime } from "./started-runtime.ts";

const CHILD = join(import.meta.dirname, "..", "children", "mcp-stdio-server.ts");

/** Longer than a test may take: what waits for it does not end. */
const FOR_EVER = 600_000;

const withServer = (env: Record<string, string>) => {
  const { tools, ...config } = defaultConfig();
  const server = { name: "test", command: process.execPath, args: [CHILD], env };
  const limits = { connect_timeout_ms: FOR_EVER, call_timeout_ms: FOR_EVER };
  return { ...config, tools: { ...tools, mcp: [{ ...server, ...limits }] } };
};

/** A run that is just asking an MCP server for its tools, which never answers. */
async function startHanging(options: Parameters<typeof startRuntime>[0] = {}): Promise<Started & { run_id: string }> {
  const folder = createTempDir();
  const JOURNAL = join(folder.path, "journal");
  const config = withServer({ HANGS_WITH_FILE: folder.path, JOURNAL });
  const started = await startRuntime({ config, ...options });
  const run_id = await send(started, "My name is Ann");
  await expect.poll(() => existsSync(JOURNAL)).toBe(true);
  folder.remove();
  return { ...started, run_id };
}

const heardOf = async ({ storage, session }: Started) =>
  (await storage.getMessagesBySession(session.id)).messages.map(({ role, content, checkpoint_id }) => ({
    ...{ role, content, heard: checkpoint_id !== null },
  }));

it("an abort does not wait for an MCP server that hangs at its start; what was said is kept, and goes on when it is resumed", async () => {
  const storage = await openStorage("memory");
  const started = await startHanging({ storage });
  const { session, run_id } = started;
  await started.runtime.engine.abort(session.id);
  expect(dataOf(await eventsOf(started, run_id), "done")).toMatchObject([{ status: "aborted" }]);
  expect(started.errors).toEqual([]);
  expect(await heardOf(started)).toEqual([{ role: "user", content: "My name is Ann", heard: true }]);
  expect(await storage.rebuildMessages(session.id)).toMatchObject({ repaired: 0, added: 0, removed: 0 });
  await started.runtime.engine.drain(0);

  const next = { ...(await startRuntime({ storage })), session };
  const run = await resumeSession({ ...next.runtime, storage }, session, {});
  expect(dataOf(await eventsOf(next, run.id), "done")).toMatchObject([
    { status: "succeeded", assistant_data: { content: "Nice to meet you, Ann." } },
  ]);
});

it("a node that shuts down hands such a run over at once, and another one does it", async () => {
  const storage = await openStorage("memory");
  const started = await startHanging({ storage });
  await started.runtime.engine.drain(FOR_EVER);
  expect(await storage.getRun(started.run_id)).toMatchObject({ status: "queued", attempt: 1 });
  expect(started.errors).toEqual([]);
  const next = { ...(await startRuntime({ storage })), session: started.session };
  expect(dataOf(await eventsOf(next, started.run_id), "done")).toMatchObject([{ status: "succeeded" }]);
});

it("nor does a run that is given up wait for it: its agent is opened only to leave the thread fit for its next message", async () => {
  const folder = createTempDir();
  const JOURNAL = join(folder.path, "journal");
  const config = withServer({ HANGS_WITH_FILE: folder.path, JOURNAL });
  const started = await startRuntime({ config, engine: { poll_ms: 20, max_stalled_attempts: 0 } });
  const run_id = await send(started, "My name is Ann");
  expect(dataOf(await eventsOf(started, run_id), "done")).toMatchObject([{ status: "failed" }]);
  expect(await heardOf(started)).toEqual([{ role: "user", content: "My name is Ann", heard: true }]);
  expect(existsSync(JOURNAL)).toBe(false);
  folder.remove();
});
