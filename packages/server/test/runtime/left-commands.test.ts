import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { openStorage } from "@cognition/thread";
import { expect, it, onTestFinished } from "vitest";
import { createTempDir } from "../../../../testing/temp-dir.ts";
import { createLeftCommands } from "../../src/runtime/left-commands.ts";
import { createSandboxes } from "../../src/sandbox/create-sandboxes.ts";
import { findProcesses, until } from "../sandbox/wait-for.ts";

/** A command of a tool call, left running by one server; and what the next one on this host knows of it. */
async function leaveCommand(seconds: string) {
  const dir = createTempDir();
  const [workspace, commandFolder] = [join(dir.path, "work"), join(dir.path, "commands")];
  mkdirSync(workspace);
  const serve = () => createSandboxes({ backend: "local", environment: { PATH: process.env["PATH"] }, commandFolder });
  const storage = await openStorage("memory");
  const { id: session_id, thread_id } = await storage.createSession({});
  await storage.createRun({ session_id });
  const lease = await storage.claimRun({ owner: "test", lease_ms: 60_000, session_id });
  if (!lease) throw new Error("the run was not given");
  const call = { thread_id, checkpoint_ns: "tools:1", tool_call_id: "call-1" };
  const begun = await storage.beginToolCall({ ...call, lease, name: "execute", args: {}, on_crash: "never" });
  if (begun.state !== "started") throw new Error(`the call is ${begun.state}`);
  const first = await serve();
  const running = (await first.open(session_id, workspace)).execute(`sh -c 'exec sleep ${seconds}'`, {
    id: begun.idempotency_key,
  });
  running.catch(() => undefined); // it is let go of
  await until(() => findProcesses(`sleep ${seconds}`).length === 1);
  await first.close({ leave: true });
  const next = await serve();
  onTestFinished(async () => {
    await next.remove(session_id);
    await next.close();
    await storage.close();
    dir.remove();
  });
  const becomes = (outcome: "unknown") => storage.finishToolCall(call, lease, { outcome, result: null });
  return { storage, sandboxes: next, session_id, id: begun.idempotency_key, becomes };
}

it("a command that outlived its server goes on while its call waits for it, and is stopped once another node gave it up", async () => {
  const seconds = `${6000 + (process.pid % 1000)}.1`;
  const { storage, sandboxes, becomes, session_id, id } = await leaveCommand(seconds);
  expect(sandboxes.left()).toMatchObject([{ session_id, id }]);
  let looks = 0;
  const listRuns: typeof storage.listRuns = (...asked) => {
    looks += 1;
    return storage.listRuns(...asked);
  };
  const errors: unknown[] = [];
  const left = createLeftCommands({
    storage: { ...storage, listRuns },
    sandboxes,
    look_ms: 10,
    onError: (error) => errors.push(error),
  });
  left.start();
  await until(() => looks > 3);
  expect(findProcesses(`sleep ${seconds}`)).toHaveLength(1);
  await becomes("unknown");
  await until(() => findProcesses(`sleep ${seconds}`).length === 0);
  await until(() => sandboxes.left().length === 0);
  left.stop();
  expect(errors).toEqual([]);
});

it("a command whose call the storage does not know is left alone: it may be another server's", async () => {
  const seconds = `${6000 + (process.pid % 1000)}.2`;
  const { sandboxes } = await leaveCommand(seconds);
  let looks = 0;
  const listRuns = async () => {
    looks += 1;
    return [];
  };
  const storage = { listRuns, listToolCalls: async () => [] };
  const left = createLeftCommands({ storage, sandboxes, look_ms: 10, onError: () => undefined });
  left.start();
  await until(() => looks > 3);
  left.stop();
  expect(findProcesses(`sleep ${seconds}`)).toHaveLength(1);
});
