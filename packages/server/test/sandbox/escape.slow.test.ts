import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { isAppError } from "@cognition/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findBubblewrap } from "../../../../testing/bubblewrap.ts";
import { startDocker } from "../../../../testing/docker.ts";
import { createTempDir, type TempDir } from "../../../../testing/temp-dir.ts";
import { createSandboxes, type SandboxesOptions } from "../../src/sandbox/create-sandboxes.ts";
import type { Sandbox, Sandboxes } from "../../src/sandbox/sandbox.ts";
import { ALLOWED, ATTACKS, type Attack, type Target } from "./escape-attacks.ts";
import { NO_CGROUPS } from "./no-cgroups.ts";
import { findProcesses, until } from "./wait-for.ts";

const bubblewrap = findBubblewrap();
const docker = await startDocker();
const outcomes = new Map<string, Map<string, string>>();
let temp: TempDir;
let target: Target;
let server: ChildProcess;
let service: Server;

const limits = {
  timeout_ms: 60_000,
  processes: ALLOWED.processes,
  memory_bytes: ALLOWED.memory,
  file_bytes: ALLOWED.disk,
  workspace_bytes: ALLOWED.workspace,
  temporary_bytes: ALLOWED.disk,
};

beforeAll(async () => {
  temp = createTempDir("cognition-escape-");
  const at = (name: string) => join(temp.path, name);
  for (const folder of ["outside", "other", "workspace/.cognition"]) mkdirSync(at(folder), { recursive: true });
  writeFileSync(at("outside/private"), "private\n", { mode: 0o600 });
  writeFileSync(at("outside/state.db"), "database\n", { mode: 0o600 });
  writeFileSync(at("other/notes"), "notes\n", { mode: 0o600 });
  writeFileSync(at("workspace/.cognition/state.db"), "database\n");
  server = spawn("sleep", ["6000"], { env: { ...process.env, SECRET: "for-the-server-alone" }, stdio: "ignore" });
  service = createServer((socket) => socket.end("reached\n")).listen(0, "127.0.0.1");
  await once(service, "listening");
  const address = service.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  target = {
    outside: at("outside"),
    other: at("other"),
    database: at("outside/state.db"),
    serverPid: server.pid ?? 0,
    port: address.port,
  };
});

afterAll(async () => {
  server.kill("SIGKILL");
  service.close();
  temp.remove();
  if ("stop" in docker) await docker.stop();
  console.log(table());
});

/** Shows that the attack is one: a plain shell with the server's rights and environment. */
describe("without a sandbox the attack succeeds:", () => {
  test.each(ATTACKS)("$name", async (attack) => {
    const file = writeScript(attack);
    const child = spawn("sh", [file], {
      cwd: join(temp.path, "workspace"),
      env: { ...process.env, SECRET: "for-the-server-alone" },
      detached: true,
      stdio: ["ignore", "pipe", "ignore"],
    });
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
    const read = once(child, "close");
    await once(child, "exit");
    spawnSync("kill", ["-KILL", "--", `-${child.pid}`]);
    await read;
    const succeeded = output.includes("SUCCEEDED");
    note(attack, "none", succeeded ? "open" : "impossible");
    if (!attack.privileged) expect(succeeded).toBe(true);
  });
});

escapeSuite("local", { backend: "local" });
if ("file" in bubblewrap) {
  const file = bubblewrap.file;
  escapeSuite("bubblewrap", { backend: "bubblewrap", bubblewrap: file });
  escapeSuite("bubblewrap without cgroups", { backend: "bubblewrap", bubblewrap: file, cgroups: NO_CGROUPS });
} else {
  describe.skip(`bubblewrap: ${bubblewrap.missing}`, () => {});
}

if ("host" in docker) {
  escapeSuite("docker", { backend: "docker", docker: { host: docker.host, image: docker.image } });
} else {
  describe.skip(`docker: ${docker.missing}`, () => {});
}

type Chosen = Pick<SandboxesOptions, "backend" | "bubblewrap" | "cgroups" | "docker">;

function escapeSuite(name: string, options: Chosen): void {
  describe(`${name}:`, () => {
    let sandboxes: Sandboxes;
    let sandbox: Sandbox;

    beforeAll(async () => {
      const environment = { ...process.env, SECRET: "for-the-server-alone" };
      const stateDatabase = join(temp.path, "workspace/.cognition/state.db");
      sandboxes = await createSandboxes({ environment, limits, stateDatabase, ...options });
      sandbox = await sandboxes.open(name, join(temp.path, "workspace"));
    });
    afterAll(() => sandboxes.close());

    test.each(ATTACKS)("$name", async (attack) => {
      const held = !(await outputOf(sandbox, attack)).includes("SUCCEEDED");
      note(attack, name, held ? "held" : "open");
      const possible = outcomes.get(attack.name)?.get("none") !== "impossible";
      const unlimited = attack.name === "fork bomb" && sandboxes.describe().limits.processes?.enforced_by === null;
      if (unlimited) note(attack, name, "open, and describe() says so");
      // Also where it does not hold: what the table says of a back end is to be true, in both directions.
      const expected = !possible || (!unlimited && attack.heldBy.some((each) => each === options.backend));
      expect(held).toBe(expected);
    });

    test("a process that outlives the command", async () => {
      const seconds = `${2000 + (process.pid % 1000)}.${name.length}`;
      await sandbox.execute(`sh -c 'env -i setsid sh -c "setsid sleep ${seconds} & " & sleep 0.3'`);
      note(
        { name: "a process that outlives the command" },
        name,
        findProcesses(`sleep ${seconds}`).length ? "open" : "held",
      );
      expect(findProcesses(`sleep ${seconds}`)).toEqual([]);
    });

    test("the server and its data are as they were", () => {
      expect(server.exitCode).toBeNull();
      expect(readFileSync(join(temp.path, "outside/state.db"), "utf8")).toBe("database\n");
      expect(readFileSync(join(temp.path, "workspace/.cognition/state.db"), "utf8")).toBe("database\n");
    });
  });
}

test("without a sandbox a process outlives its command", async () => {
  const seconds = `${2000 + (process.pid % 1000)}.0`;
  spawnSync("sh", ["-c", `setsid sleep ${seconds} & `], { stdio: "ignore" });
  await until(() => findProcesses(`sleep ${seconds}`).length === 1);
  for (const pid of findProcesses(`sleep ${seconds}`)) process.kill(pid, "SIGKILL");
  note({ name: "a process that outlives the command" }, "none", "open");
});

async function outputOf(sandbox: Sandbox, attack: Attack): Promise<string> {
  try {
    return (await sandbox.execute(`sh ${writeScript(attack)}`)).output;
  } catch (error) {
    if (!isAppError(error, "limit_exceeded")) throw error;
    spawnSync("sh", ["-c", "rm -f many-*"], { cwd: join(temp.path, "workspace") });
    return error.message;
  }
}

/** A file rather than an argument: what the local sandbox refuses by its text is tested in its own suite. */
function writeScript(attack: Attack): string {
  writeFileSync(join(temp.path, "workspace", "attack.sh"), attack.script(target));
  return "attack.sh";
}

function note({ name }: Pick<Attack, "name">, backend: string, outcome: string): void {
  const row = outcomes.get(name) ?? new Map<string, string>();
  outcomes.set(name, row.set(backend, outcome));
}

function table(): string {
  const backends = ["none", "local", "bubblewrap", "bubblewrap without cgroups", "docker"];
  const rows = [...outcomes].map(([name, row]) => [name, ...backends.map((backend) => row.get(backend) ?? "–")]);
  const line = (cells: string[]) => cells.map((cell, index) => cell.padEnd(index === 0 ? 46 : 12)).join(" ");
  return ["", line(["attack", ...backends]), ...rows.map(line), ""].join("\n");
}

test("the guide's table says what is tested", () => {
  const guide = readFileSync(new URL("../../../../docs/guide/sandboxes.md", import.meta.url), "utf8");
  const rows = guide.split("\n").map((row) => row.split("|").map((cell) => cell.trim()));
  for (const { name, heldBy } of ATTACKS) {
    const expected = ["local", "bubblewrap", "docker"].map((each) =>
      heldBy.some((by) => by === each) ? "held" : "open",
    );
    expect(rows.find((row) => row[1] === name)?.slice(2, 5), name).toEqual(expected);
  }
});
