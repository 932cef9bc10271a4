import { openStorage, type Storage } from "@cognition/thread";
import { afterEach, expect, it } from "vitest";
import { createTempDir } from "../../../../testing/temp-dir.ts";
import { compose, type Runtime } from "../../src/compose.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

async function start(): Promise<{ runtime: Runtime; storage: Storage }> {
  const dir = createTempDir();
  const storage = await openStorage("memory");
  const runtime = await compose({
    storage,
    workspace_root: dir.path,
    env: { PATH: process.env["PATH"] },
    engine: { poll_ms: 20 },
    onError: () => undefined,
  });
  cleanups.push(
    () => dir.remove(),
    () => storage.close(),
    () => runtime.close(0),
  );
  runtime.engine.start();
  return { runtime, storage };
}

function message(session_id: string, content: string) {
  const message_id = crypto.randomUUID();
  return {
    session_id,
    message: { id: message_id, role: "user" as const, content },
    input: { kind: "message", message_id, content },
  };
}

it("a run whose agent can't be opened ends, says so, and does not hold up its thread", async () => {
  const { runtime, storage } = await start();
  const { id: session_id } = await storage.createSession({});
  for (const content of ["Hello", "Are you there?"]) {
    const { run } = await runtime.engine.submit({ ...message(session_id, content), agent_revision: "gone" });
    await expect
      .poll(() => storage.getRun(run.id), { timeout: 50_000 })
      .toMatchObject({ status: "failed", attempt: 1, error: { code: "agent_not_found" } });
  }
});

it("a message to an agent that is not there any more is refused, naming those that are, and changes nothing", async () => {
  const { runtime, storage } = await start();
  const { id: session_id } = await storage.createSession({ agent_name: "gone" });
  for (const on_busy of ["enqueue", "interrupt"] as const) {
    await expect(runtime.engine.submit({ ...message(session_id, "Hello"), on_busy })).rejects.toMatchObject({
      code: "unknown_agent",
      details: { valid: ["default", "readonly"] },
    });
  }
  expect(await storage.listRuns(session_id)).toEqual([]);
  expect(await storage.listMessagesForSession(session_id)).toEqual([]);
});
