import { execFileSync } from "node:child_process";
import { globSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createTempDir, type TempDir } from "../../../../testing/temp-dir.ts";
import { createSandboxes } from "../../src/sandbox/create-sandboxes.ts";
import { findProcess } from "../../src/sandbox/process/process-table.ts";
import { runProcess } from "../../src/sandbox/process/run-process.ts";
import type { Sandbox, Sandboxes } from "../../src/sandbox/sandbox.ts";
import { folderOf } from "../../src/sandbox/supervisor/command-folder.ts";
import { until } from "./wait-for.ts";

describe("the supervisor of commands", () => {
  let temp: TempDir;
  let state: string;
  let sandboxes: Sandboxes;
  let sandbox: Sandbox;

  beforeEach(async () => {
    temp = createTempDir();
    state = join(temp.path, "commands");
    mkdirSync(join(temp.path, "workspace"));
    mkdirSync(state);
    sandboxes = await createSandboxes({ backend: "local", environment: process.env, commandFolder: state });
    sandbox = await sandboxes.open("session", join(temp.path, "workspace"));
  });

  afterEach(async () => {
    await sandboxes.close();
    temp.remove();
  });

  const supervisorOf = (about: string) => JSON.parse(readFileSync(about, "utf8")).supervisor.pid as number;
  const notes = () => globSync(join(state, "*", "*", "about.json"));

  test.runIf(process.platform === "linux")(
    "takes over what a server left that was killed before its note",
    async () => {
      const left = folderOf(state, "session", "call");
      const claim = `(await import(process.argv[1])).folderOf(${JSON.stringify(state)}, "session", "call").claim()`;
      const options = ["--conditions=cognition-source", "--input-type=module", "-e", `process.exit(${claim} ? 0 : 9)`];
      const file = join(import.meta.dirname, "../../src/sandbox/supervisor/command-folder.ts");
      execFileSync(process.execPath, [...options, file], { stdio: "ignore" });
      expect([left.isThere(), left.note()]).toEqual([true, undefined]);
      expect(await sandbox.execute("echo word", { id: "call" })).toMatchObject({ output: "word\n", exit_code: 0 });
      // One whose claimant lives is not.
      const held = folderOf(state, "session", "held");
      expect([held.claim(), held.claim()]).toEqual([true, false]);
      await expect(sandbox.execute("echo word", { id: "held" })).rejects.toMatchObject({ code: "already_exists" });
      expect(readdirSync(join(held.path, "..")).filter((name) => name.includes("."))).toEqual([]);
    },
  );

  test.runIf(process.platform === "linux")("holds no file of a command that has ended", async () => {
    await sandbox.execute("true", { id: "first" });
    const pid = supervisorOf(notes()[0] ?? "");
    const held = () => readdirSync(`/proc/${pid}/fd`).length;
    const before = held();
    for (const id of ["second", "third", "fourth"]) {
      await sandbox.execute("echo word", { id });
      await sandbox.forget(id);
    }
    expect(held()).toBe(before);
  });

  test.runIf(process.platform === "linux")(
    "tells what a full disk did not let it keep, and outlives that",
    async () => {
      const untilThere = (file: string) => `sh -c 'while [ ! -e ${file} ]; do sleep 0.02; done; echo done'`;
      const other = sandbox.execute(untilThere("go"), { id: "other" });
      await until(() => notes().length === 1);
      const pid = supervisorOf(notes()[0] ?? "");
      // No file may grow: what is written fails as on a full disk.
      const limit = (bytes: string) => execFileSync("prlimit", [`--pid=${pid}`, `--fsize=${bytes}:unlimited`]);
      for (const id of ["one", "two"]) {
        const unkept = expect(sandbox.execute(untilThere(id), { id })).rejects.toMatchObject({
          code: "outcome_unknown",
          message: expect.stringContaining("disk"),
        });
        await until(() => globSync(join(state, "*", "*", "process.json")).length === 2);
        limit("0");
        await sandbox.files.write(id, "");
        await unkept;
        limit("unlimited");
      }
      await sandbox.files.write("go", "");
      expect(await other).toMatchObject({ output: "done\n", exit_code: 0 });
    },
  );

  test("a process whose start cannot be noted does not go on", async () => {
    let started = 0;
    const start = { argv: ["/bin/sleep", "60"] as const, cwd: "/", env: {} };
    const onStart = (pid: number) => {
      started = pid;
      throw new Error("no space left");
    };
    await expect(runProcess(start, { timeout_ms: 60_000, outputBytes: 10, onStart })).rejects.toThrow("no space left");
    expect(findProcess(started)?.dead ?? true).toBe(true);
  });
});
