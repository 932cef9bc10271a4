import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { AppError } from "@cognition/contract";
import { openStorage } from "@cognition/thread";
import { expect, it } from "vitest";
import { until } from "../sandbox/wait-for.ts";
import { dataOf, eventsOf, send, startRuntime } from "./started-runtime.ts";

const JOB = "echo $$ >> count\nwhile [ ! -e go ]; do sleep 0.05; done\necho it is built\n";
const WITHIN_MS = 30_000;

/** A run in the middle of a command, whose node does not reach its storage for longer than its lease lasts. */
async function cutOff() {
  let away = false;
  const real = await openStorage("memory");
  const renewLease: typeof real.renewLease = async (...of) => {
    if (away) throw new AppError("storage_unavailable", "the database is being restarted");
    return real.renewLease(...of);
  };
  const releases: string[] = [];
  const releaseRun: typeof real.releaseRun = async (lease) => {
    if (away) throw new AppError("storage_unavailable", "the database is being restarted");
    releases.push(lease.run_id);
    return real.releaseRun(lease);
  };
  const claimRun: typeof real.claimRun = async (claim) => (away ? null : real.claimRun(claim));
  const storage = { ...real, renewLease, releaseRun, claimRun };
  const started = await startRuntime({ storage, engine: { lease_ms: 600, poll_ms: 20 } });
  mkdirSync(started.folder);
  const at = (file: string) => join(started.folder, file);
  writeFileSync(at("job.sh"), JOB);
  const run_id = await send(started, "Run the command: sh job.sh");
  await until(() => existsSync(at("count")), WITHIN_MS);
  away = true;
  await until(() => started.errors.length > 0, WITHIN_MS);
  return {
    ...{ started, run_id, at, releases, real },
    comeBack: () => {
      away = false;
    },
  };
}

it("a command goes on while the database is away, and its call with it", async () => {
  const { started, run_id, at, releases, comeBack } = await cutOff();
  expect(started.errors).toMatchObject([{ code: "storage_unavailable" }]);
  comeBack();
  await until(async () => (await started.storage.getRun(run_id)).attempt === 2, WITHIN_MS);
  writeFileSync(at("go"), "");
  const events = await eventsOf(started, run_id);
  expect(dataOf(events, "tool_result")).toMatchObject([{ outcome: "ok", exit_code: 0 }]);
  expect(dataOf(events, "done")).toMatchObject([{ status: "succeeded" }]);
  expect(readFileSync(at("count"), "utf8").trim().split("\n")).toHaveLength(1);
  // Whoever claims it first when the storage is back need not wait for that.
  await until(() => releases.length > 0, WITHIN_MS);
  expect(releases).toEqual([run_id]);
});

it("it is stopped if a node on another host has gone on with the run, and has told that nobody knows of it", async () => {
  const { started, run_id, at, real, comeBack } = await cutOff();
  const pid = Number(readFileSync(at("count"), "utf8"));
  const another = { owner: "another", lease_ms: 60_000, session_id: started.session.id };
  await until(async () => (await real.claimRun(another)) !== null, WITHIN_MS);
  const [call] = await real.listToolCalls(run_id);
  const { thread_id } = started.session;
  const lease = { run_id, epoch: 2 };
  if (call) await real.finishToolCall({ ...call, thread_id }, lease, { outcome: "unknown", result: null });
  expect(isRunning(pid)).toBe(true);
  comeBack();
  await until(() => !isRunning(pid), WITHIN_MS);
});

it("so it does when its node was stopped for longer than its lease, and another one on this host goes on with it", async () => {
  const real = await openStorage("memory");
  const awake = Promise.withResolvers<void>();
  const renewLease: typeof real.renewLease = async (...of) => {
    await awake.promise;
    return real.renewLease(...of);
  };
  const claimRun: typeof real.claimRun = async () => null;
  const engine = { lease_ms: 600, poll_ms: 20 };
  const stopped = await startRuntime({ storage: { ...real, renewLease, claimRun }, engine });
  const at = (file: string) => join(stopped.folder, file);
  mkdirSync(stopped.folder);
  writeFileSync(at("job.sh"), JOB);
  const run_id = await send(stopped, "Run the command: sh job.sh");
  await until(() => existsSync(at("count")), WITHIN_MS);
  await startRuntime({ storage: real, engine, workspace_root: stopped.root });
  await until(async () => (await real.getRun(run_id)).attempt === 2, WITHIN_MS);
  awake.resolve();
  await until(() => stopped.errors.length > 0, WITHIN_MS);
  expect(stopped.errors).toMatchObject([{ code: "stale_epoch" }]);
  writeFileSync(at("go"), "");
  const events = await eventsOf(stopped, run_id);
  expect(dataOf(events, "tool_result")).toMatchObject([{ outcome: "ok", exit_code: 0 }]);
  expect(readFileSync(at("count"), "utf8").trim().split("\n")).toHaveLength(1);
});

function isRunning(pid: number): boolean {
  return existsSync(`/proc/${pid}`);
}
