import { expect, it } from "vitest";
import { openRecoveryScene, outputSeen } from "./recovery-scene.ts";
import { dataOf } from "./started-runtime.ts";

// The other sandboxes, signals and ends are in the crash suite.
it("a command that outlives its killed server is taken up: its result is whole, and it ran once", {
  timeout: 120_000,
  tags: "long",
}, async () => {
  const scene = await openRecoveryScene({ PATH: process.env["PATH"] ?? "" });
  try {
    scene.write("job.sh", "echo begun >> count; echo first; while [ ! -e go ]; do sleep 0.02; done; echo last\n");
    const { ended } = await scene.takeOver(await scene.endNodeDuring("SIGKILL"));
    scene.write("go", "");
    const events = await ended;
    expect(dataOf(events, "tool_result")).toMatchObject([{ outcome: "ok", exit_code: 0 }]);
    expect(outputSeen(events)).toBe("first\nlast\n");
    expect(scene.lines("count")).toEqual(["begun"]);
    expect(scene.started.errors).toEqual([]);
    const { runtime, storage, session, folder } = scene.started;
    const [call] = await storage.listToolCalls(events[0]?.run_id ?? "");
    const sandbox = await runtime.sandboxes.open(session.id, folder);
    expect(await sandbox.knows(call?.idempotency_key ?? ""), "what it left behind").toBe(false);
  } finally {
    await scene.close();
  }
});
