import { openStorage } from "@cognition/thread";
import { expect, it } from "vitest";
import { createTempDir } from "../../../../testing/temp-dir.ts";
import { compose } from "../../src/compose.ts";

it("a run whose agent can't be opened ends, says so, and does not hold up its thread", async () => {
  const dir = createTempDir();
  const storage = await openStorage("memory");
  const runtime = await compose({
    storage,
    workspace_root: dir.path,
    env: { PATH: process.env["PATH"] },
    engine: { poll_ms: 20, lease_ms: 200 },
    onError: () => undefined,
  });
  try {
    runtime.engine.start();
    const { id: session_id } = await storage.createSession({ agent_name: "gone" });
    for (const content of ["Hello", "Are you there?"]) {
      const message_id = crypto.randomUUID();
      const { run } = await runtime.engine.submit({
        session_id,
        message: { id: message_id, role: "user", content },
        input: { kind: "message", message_id, content },
      });
      await expect
        .poll(() => storage.getRun(run.id), { timeout: 10_000 })
        .toMatchObject({ status: "failed", attempt: 1, error: { code: "unknown_agent" } });
    }
  } finally {
    await runtime.close(0);
    await storage.close();
    dir.remove();
  }
});
