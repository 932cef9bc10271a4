import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { StoredEvent } from "@cognition/contract";
import { openStorage, type Storage } from "@cognition/thread";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { findBubblewrap } from "../../../../testing/bubblewrap.ts";
import { startDocker } from "../../../../testing/docker.ts";
import { createTempDir, type TempDir } from "../../../../testing/temp-dir.ts";
import { compose, type Runtime } from "../../src/compose.ts";
import { loadConfig } from "../../src/config.ts";
import { dataOf, eventsOf, type Started, send } from "../runtime/started-runtime.ts";
import { findProcesses, until } from "../sandbox/wait-for.ts";

const bubblewrap = findBubblewrap();
const engine = await startDocker();
const PATH = process.env["PATH"] ?? "";

recovery("local", { PATH });
if ("file" in bubblewrap)
  recovery("bubblewrap", { PATH: `${dirname(bubblewrap.file)}:${PATH}`, COGNITION_SANDBOX_BACKEND: "bubblewrap" });
else describe.skip(`bubblewrap: ${bubblewrap.missing}`, () => {});
if ("host" in engine) {
  afterAll(() => engine.stop());
  const { host, image } = engine;
  recovery("docker", {
    PATH,
    COGNITION_SANDBOX_BACKEND: "docker",
    COGNITION_DOCKER_IMAGE: image,
    DOCKER_HOST: host,
  });
} else describe.skip(`docker: ${engine.missing}`, () => {});

/** The whole server, killed or replaced in the middle of a command. */
function recovery(name: string, env: Record<string, string>): void {
  let dir: TempDir;
  let storage: Storage;
  let started: Started;
  let runtime: Runtime;

  beforeEach(async () => {
    dir = createTempDir();
    storage = await openStorage(uri());
    // It accepts messages, and works on none until it is started.
    runtime = await open();
    const session = await storage.createSession({ workspace_path: "work" });
    started = { storage, runtime, session, root: dir.path, folder: join(dir.path, "work"), errors: [] };
    mkdirSync(started.folder);
  });

  afterEach(async () => {
    await runtime.sandboxes.remove(started.session.id);
    await runtime.close(0);
    await storage.close();
    dir.remove();
  });

  const uri = () => `sqlite://${join(dir.path, "state.db")}`;
  const open = () =>
    compose({
      storage,
      workspace_root: dir.path,
      env,
      config: loadConfig({ env, cwd: dir.path }).config,
      engine: { lease_ms: 2_000, poll_ms: 20 },
      onError: (error) => started.errors.push(error),
    });
  const at = (file: string) => join(started.folder, file);
  const write = (file: string, text: string) => writeFileSync(at(file), text);
  const begun = () => until(() => existsSync(at("count")), 60_000);
  const times = () => readFileSync(at("count"), "utf8").split("\n").length - 1;
  const JOB = "echo begun >> count; echo first; while [ ! -e go ]; do sleep 0.02; done; echo last\n";
  const ASK = "Run the command: sh job.sh";

  /** Has another process work on the message, and ends that while the command runs. */
  async function endNodeDuring(signal: "SIGKILL" | "SIGTERM"): Promise<string> {
    const run_id = await send(started, ASK);
    const program = join(import.meta.dirname, "../runtime/children/run-node.ts");
    const flags = ["--conditions=cognition-source", "--disable-warning=ExperimentalWarning"];
    const args = [...flags, program, uri(), dir.path, JSON.stringify(env)];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "inherit"] });
    const ended = once(child, "exit");
    await begun();
    child.kill(signal);
    await ended;
    return run_id;
  }

  /** What a client that heeds `discard_after` has seen in the end. */
  function outputOf(events: readonly StoredEvent[]): string {
    const void_after = Math.max(0, ...dataOf(events, "status").map(({ discard_after = 0 }) => Number(discard_after)));
    const resumed = events.findLast(({ event, data }) => event === "status" && "discard_after" in data)?.id ?? 0;
    const valid = events.filter(({ id }) => id <= void_after || id > resumed);
    return dataOf(valid, "tool_output").reduce((text, { content }) => text + content, "");
  }

  describe(`${name}: a command that outlives its server`, { timeout: 120_000 }, () => {
    it.each(["SIGKILL", "SIGTERM"] as const)(
      "is taken up after %s: its result is whole, and it ran once",
      async (signal) => {
        write("job.sh", JOB);
        const run_id = await endNodeDuring(signal);
        runtime.engine.start();
        const ended = eventsOf(started, run_id);
        await until(async () => (await storage.getRun(run_id)).attempt === 2, 60_000);
        write("go", "");
        const events = await ended;
        expect(dataOf(events, "tool_result")).toMatchObject([{ outcome: "ok", exit_code: 0 }]);
        expect(String(dataOf(events, "tool_result")[0]?.["output"])).toContain("first\nlast\n");
        expect(outputOf(events)).toBe("first\nlast\n");
        expect(dataOf(events, "done")).toMatchObject([{ status: "succeeded" }]);
        expect(times()).toBe(1);
        expect(started.errors).toEqual([]);
      },
    );

    it("is dead after an abort that follows the takeover", async () => {
      const seconds = `${4000 + (process.pid % 1000)}.${name.length}`;
      write("job.sh", `echo begun >> count; setsid sleep ${seconds} & exec sleep ${seconds}\n`);
      const run_id = await endNodeDuring("SIGKILL");
      await until(() => findProcesses(`sleep ${seconds}`).length === 2);
      runtime.engine.start();
      const ended = eventsOf(started, run_id);
      await until(async () => (await storage.getRun(run_id)).attempt === 2, 60_000);
      const sandbox = await runtime.sandboxes.open(started.session.id, started.folder);
      await until(() => sandbox.running().length === 1);
      await runtime.engine.abort(started.session.id);
      await until(() => findProcesses(`sleep ${seconds}`).length === 0);
      const events = await ended;
      expect(dataOf(events, "tool_result").at(-1)).toMatchObject({ outcome: "aborted" });
      expect(dataOf(events, "done")).toMatchObject([{ status: "aborted" }]);
    });

    it("is stopped when its run was aborted while there was no server", async () => {
      const seconds = `${5000 + (process.pid % 1000)}.${name.length}`;
      write("job.sh", `echo begun >> count; exec sleep ${seconds}\n`);
      const run_id = await endNodeDuring("SIGKILL");
      await until(() => findProcesses(`sleep ${seconds}`).length === 1);
      await runtime.engine.abort(started.session.id);
      runtime.engine.start();
      const events = await eventsOf(started, run_id);
      expect(findProcesses(`sleep ${seconds}`)).toEqual([]);
      expect(dataOf(events, "tool_result").at(-1)).toMatchObject({ outcome: "aborted" });
      expect(dataOf(events, "done")).toMatchObject([{ status: "aborted" }]);
    });

    it("is of unknown outcome for a machine that does not know it", async () => {
      write("job.sh", JOB);
      const run_id = await endNodeDuring("SIGKILL");
      await runtime.sandboxes.remove(started.session.id);
      runtime.engine.start();
      const events = await eventsOf(started, run_id);
      expect(dataOf(events, "tool_result")).toMatchObject([{ outcome: "unknown" }]);
      expect(times()).toBe(1);
    });
  });
}
