import { dirname } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, inject, it } from "vitest";
import { findBubblewrap } from "../../../../testing/bubblewrap.ts";
import { startDocker } from "../../../../testing/docker.ts";
import { openRecoveryScene, outputSeen, type RecoveryScene } from "../runtime/recovery-scene.ts";
import { dataOf, eventsOf } from "../runtime/started-runtime.ts";
import { findProcesses, until } from "../sandbox/wait-for.ts";

const bubblewrap = findBubblewrap();
const engine = await startDocker();
const PATH = process.env["PATH"] ?? "";
/** How long the command takes that a server is killed in the middle of. */
const SECONDS = inject("short") ? 3 : 20;

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

const JOB = "echo begun >> count; echo first; while [ ! -e go ]; do sleep 0.02; done; echo last\n";

/** The whole server, killed or replaced in the middle of a command. */
function recovery(name: string, env: Record<string, string>): void {
  let scene: RecoveryScene;

  beforeEach(async () => {
    scene = await openRecoveryScene(env);
  });
  afterEach(() => scene.close());

  describe(`${name}: a command that outlives its server`, { timeout: 180_000 }, () => {
    it(`is taken up after SIGKILL in the middle of its ${SECONDS} s: every line of it once, and it ran once`, async () => {
      const lines = SECONDS * 2;
      const said = [...Array.from({ length: lines }, (_, n) => `line ${n + 1}`), "end"];
      // It can't end before it is taken up, however long that takes.
      const loop = `n=1; while [ $n -le ${lines} ]; do echo line $n; echo $n >> told; n=$((n + 1)); sleep 0.5; done`;
      scene.write("job.sh", `echo begun >> count; ${loop}; while [ ! -e go ]; do sleep 0.05; done; echo end\n`);
      const isInTheMiddle = () => scene.lines("told").length >= lines / 3;
      const { ended } = await scene.takeOver(await scene.endNodeDuring("SIGKILL", () => exists(isInTheMiddle)));
      scene.write("go", "");
      const events = await ended;
      expect(dataOf(events, "tool_result")).toMatchObject([{ outcome: "ok", exit_code: 0 }]);
      expect(String(dataOf(events, "tool_result")[0]?.["output"])).toContain(`${said.join("\n")}\n`);
      expect(outputSeen(events)).toBe(`${said.join("\n")}\n`);
      expect(dataOf(events, "done")).toMatchObject([{ status: "succeeded" }]);
      expect(scene.lines("count")).toEqual(["begun"]);
      expect(scene.lines("told")).toHaveLength(lines);
      expect(scene.started.errors).toEqual([]);
    });

    it("is taken up after SIGTERM: its result is whole, and it ran once", async () => {
      scene.write("job.sh", JOB);
      const { ended } = await scene.takeOver(await scene.endNodeDuring("SIGTERM"));
      scene.write("go", "");
      const events = await ended;
      expect(dataOf(events, "tool_result")).toMatchObject([{ outcome: "ok", exit_code: 0 }]);
      expect(outputSeen(events)).toBe("first\nlast\n");
      expect(dataOf(events, "done")).toMatchObject([{ status: "succeeded" }]);
      expect(scene.lines("count")).toEqual(["begun"]);
      expect(scene.started.errors).toEqual([]);
    });

    it("is dead after an abort that follows the takeover", async () => {
      const seconds = `${4000 + (process.pid % 1000)}.${name.length}`;
      const { runtime, started } = scene;
      scene.write("job.sh", `echo begun >> count; setsid sleep ${seconds} & exec sleep ${seconds}\n`);
      const run_id = await scene.endNodeDuring("SIGKILL");
      await until(() => findProcesses(`sleep ${seconds}`).length === 2);
      const { ended } = await scene.takeOver(run_id);
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
      const { runtime, started } = scene;
      scene.write("job.sh", `echo begun >> count; exec sleep ${seconds}\n`);
      const run_id = await scene.endNodeDuring("SIGKILL");
      await until(() => findProcesses(`sleep ${seconds}`).length === 1);
      await runtime.engine.abort(started.session.id);
      runtime.engine.start();
      const events = await eventsOf(started, run_id);
      expect(findProcesses(`sleep ${seconds}`)).toEqual([]);
      expect(dataOf(events, "tool_result").at(-1)).toMatchObject({ outcome: "aborted" });
      expect(dataOf(events, "done")).toMatchObject([{ status: "aborted" }]);
    });

    it("is of unknown outcome for a machine that does not know it", async () => {
      const { runtime, started } = scene;
      scene.write("job.sh", JOB);
      const run_id = await scene.endNodeDuring("SIGKILL");
      await runtime.sandboxes.remove(started.session.id);
      runtime.engine.start();
      const events = await eventsOf(started, run_id);
      expect(dataOf(events, "tool_result")).toMatchObject([{ outcome: "unknown" }]);
      expect(scene.lines("count")).toEqual(["begun"]);
    });
  });
}

/** False while the file it looks into is not there. */
function exists(fact: () => boolean): boolean {
  try {
    return fact();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
}
