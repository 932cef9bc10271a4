import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createTempDir, type TempDir } from "../../../../testing/temp-dir.ts";
import { createSandboxes, type SandboxesOptions } from "../../src/sandbox/create-sandboxes.ts";
import type { Sandboxes } from "../../src/sandbox/sandbox.ts";
import { findProcesses, until } from "./wait-for.ts";

type Chosen = Pick<SandboxesOptions, "backend" | "bubblewrap" | "docker" | "cgroups">;

const PROGRAM = fileURLToPath(new URL("../children/run-command.ts", import.meta.url));

/** What every back end promises of a command that has an id: it outlives whoever asked for it, and is run once. */
export function supervisionContract(name: string, chosen: Chosen): void {
  let temp: TempDir;
  let workspace: string;
  let options: SandboxesOptions;
  let servers: Sandboxes[];

  beforeEach(() => {
    temp = createTempDir();
    workspace = join(temp.path, "workspace");
    mkdirSync(workspace);
    const { docker } = chosen;
    options = {
      environment: { PATH: process.env["PATH"] },
      commandFolder: join(temp.path, "state", "commands"),
      ...chosen,
      ...(docker && { docker: { ...docker, owner: temp.path } }),
    };
    servers = [];
  });

  afterEach(async () => {
    const last = await serve();
    await last.sandboxes.remove("session");
    await Promise.all(servers.map((sandboxes) => sandboxes.close()));
    temp.remove();
  });

  /** One server after another, on the same machine and state. */
  const serve = async () => {
    const sandboxes = await createSandboxes(options);
    servers.push(sandboxes);
    return { sandboxes, sandbox: await sandboxes.open("session", workspace) };
  };
  const at = (path: string) => join(workspace, path);
  const write = (file: string, text: string) => writeFileSync(at(file), text);
  /** Notes that it began, says two words with a pause between them that the test ends, and has an exit code of its own. */
  const COMMAND = "sh job.sh";
  const JOB = "echo begun >> count; echo first; while [ ! -e go ]; do sleep 0.02; done; echo last; exit 7\n";
  const begun = () => until(() => existsSync(at("count")));
  const times = () => readFileSync(at("count"), "utf8").split("\n").length - 1;
  const whole = { exit_code: 7, output: "first\nlast\n", timed_out: false, truncated: false };
  let serial = 0;
  const unique = () => `${3000 + (process.pid % 1000)}.${++serial}${name.length}`;

  describe(`${name}: a command with an id`, () => {
    beforeEach(() => write("job.sh", JOB));

    test("is run once, however often it is asked for, and everyone gets all of it", async () => {
      const { sandbox } = await serve();
      const parts: string[] = [];
      const first = sandbox.execute(COMMAND, { id: "call" });
      await begun();
      const second = sandbox.execute(COMMAND, { id: "call", onOutput: (text) => parts.push(text) });
      expect(sandbox.running()).toHaveLength(1);
      write("go", "");
      expect(await first).toMatchObject(whole);
      expect(await second).toMatchObject(whole);
      expect(parts.join("")).toBe(whole.output);
      expect(await sandbox.execute(COMMAND, { id: "call" })).toMatchObject(whole);
      expect(times()).toBe(1);
    });

    test("keeps its id from another command until it is forgotten", async () => {
      const { sandbox } = await serve();
      write("go", "");
      expect(await sandbox.knows("call")).toBe(false);
      await sandbox.execute(COMMAND, { id: "call" });
      expect(await sandbox.knows("call")).toBe(true);
      await expect(sandbox.execute("true", { id: "call" })).rejects.toMatchObject({ code: "already_exists" });
      await sandbox.forget("call");
      expect(await sandbox.knows("call")).toBe(false);
      expect(await sandbox.execute("true", { id: "call" })).toMatchObject({ exit_code: 0, output: "" });
    });

    test("goes on when it is let go of, and the next server takes it up", async () => {
      const { sandbox } = await serve();
      const leaving = new AbortController();
      const running = sandbox.execute(COMMAND, { id: "call", detach: leaving.signal });
      await begun();
      leaving.abort(new Error("leaving"));
      await expect(running).rejects.toThrow("leaving");
      const next = await serve();
      expect(await next.sandbox.knows("call")).toBe(true);
      const parts: string[] = [];
      const again = next.sandbox.execute(COMMAND, { id: "call", onOutput: (text) => parts.push(text) });
      await until(() => parts.join("") === "first\n");
      write("go", "");
      expect(await again).toMatchObject(whole);
      expect(parts.join("")).toBe(whole.output);
      expect(times()).toBe(1);
    });

    test("goes on when its server closes for another, and one without an id does not", async () => {
      const { sandbox, sandboxes } = await serve();
      const seconds = unique();
      write("nameless.sh", `echo > nameless; exec sleep ${seconds}\n`);
      const running = sandbox.execute(COMMAND, { id: "call" });
      const nameless = sandbox.execute("sh nameless.sh");
      await until(() => findProcesses(`sleep ${seconds}`).length === 1);
      await begun();
      const ends = [running.catch((error: unknown) => error), nameless.catch((error: unknown) => error)];
      await sandboxes.close({ leave: true });
      expect(await Promise.all(ends)).toMatchObject([{ code: "aborted" }, { code: "aborted" }]);
      expect(findProcesses(`sleep ${seconds}`)).toEqual([]);
      write("go", "");
      expect(await (await serve()).sandbox.execute(COMMAND, { id: "call" })).toMatchObject(whole);
      expect(times()).toBe(1);
    });

    test("survives the SIGKILL of its server: the next one has all of it, and it ran once", async () => {
      await killServerDuring(COMMAND);
      const next = await serve();
      const running = next.sandbox.execute(COMMAND, { id: "call" });
      write("go", "");
      expect(await running).toMatchObject(whole);
      expect(times()).toBe(1);
    });

    test("may end while there is no server", async () => {
      await killServerDuring(COMMAND);
      write("go", "");
      write("done.sh", "");
      const next = await serve();
      await until(async () => findProcesses("sh job.sh").length === 0);
      expect(await next.sandbox.execute(COMMAND, { id: "call" })).toMatchObject(whole);
      expect(times()).toBe(1);
    });

    test("is dead when an abort by a later server is told, with all that it started", async () => {
      const seconds = unique();
      write(
        "job.sh",
        `trap "" TERM\necho begun >> count\nsleep ${seconds} &\nenv -i setsid sh -c "setsid sleep ${seconds} & exit" &\nwhile :; do sleep 0.02; done\n`,
      );
      await killServerDuring(COMMAND);
      await until(() => findProcesses(`sleep ${seconds}`).length === 2);
      const { sandbox } = await serve();
      const stop = new AbortController();
      const running = sandbox.execute(COMMAND, { id: "call", signal: stop.signal, onOutput: () => {} });
      running.catch(() => {});
      await until(() => sandbox.running().length === 1);
      stop.abort(new Error("enough"));
      await expect(running).rejects.toThrow("enough");
      expect(findProcesses(`sleep ${seconds}`)).toEqual([]);
      expect(await sandbox.knows("call")).toBe(false);
    });

    test("is stopped in time though nobody follows it", async () => {
      const seconds = unique();
      write("job.sh", `echo begun >> count; echo said; exec sleep ${seconds}\n`);
      const { sandbox } = await serve();
      const leaving = new AbortController();
      const running = sandbox.execute(COMMAND, { id: "call", timeout_ms: 6_000, detach: leaving.signal });
      await until(() => findProcesses(`sleep ${seconds}`).length === 1);
      leaving.abort(new Error("leaving"));
      await expect(running).rejects.toThrow("leaving");
      await until(() => findProcesses(`sleep ${seconds}`).length === 0);
      const next = await serve();
      const told = await next.sandbox.execute(COMMAND, { id: "call" });
      expect(told).toMatchObject({ output: "said\n", timed_out: true, exit_code: null });
    });

    test("ends with its session, also when no server has opened that yet", async () => {
      const seconds = unique();
      write("job.sh", `echo begun >> count; exec sleep ${seconds}\n`);
      await killServerDuring(COMMAND);
      await until(() => findProcesses(`sleep ${seconds}`).length === 1);
      const later = await createSandboxes(options);
      servers.push(later);
      await later.remove("session");
      await until(() => findProcesses(`sleep ${seconds}`).length === 0);
    });
  });

  async function killServerDuring(command: string): Promise<void> {
    const input = JSON.stringify({ options, workspace, command, id: "call" });
    const child = spawn(
      process.execPath,
      ["--conditions=cognition-source", "--disable-warning=ExperimentalWarning", PROGRAM, input],
      { env: { PATH: process.env["PATH"] }, stdio: ["ignore", "ignore", "inherit"] },
    );
    const ended = once(child, "exit");
    await begun();
    child.kill("SIGKILL");
    await ended;
  }
}
