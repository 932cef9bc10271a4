import { spawn } from "node:child_process";
import { AppError } from "@cognition/contract";
import { type Backend, type BackendAttempt, type BackendContext, INSIDE, type Workspace } from "../backend.ts";
import { makeProtectedFolders } from "../file/protected-folders.ts";
import { findExecutable } from "../process/find-executable.ts";
import { type Argv, joinCgroup, limitResources, type ResourceLimits } from "../process/launch.ts";
import type { PrepareCommand, PreparedProcess } from "../process/process-host.ts";
import { startMark } from "../process/process-tree.ts";
import { runProcess } from "../process/run-process.ts";
import { superviseCommands } from "../supervisor/supervise-commands.ts";
import { bubblewrapArguments, type IsolationOptions, SANDBOX_USER, USER_FILES } from "./bubblewrap-arguments.ts";
import { type DescribedLimits, describeLimits } from "./describe-limits.ts";

const PROBE_TIMEOUT_MS = 10_000;
/** The same on every machine: a sandbox shows the system's own programs, not what the server's PATH points to. */
const ENVIRONMENT = {
  PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
  HOME: INSIDE,
  PWD: INSIDE,
  TMPDIR: "/tmp",
  TERM: "dumb",
  LANG: "C.UTF-8",
  USER: SANDBOX_USER.name,
  LOGNAME: SANDBOX_USER.name,
};

/** Namespaces of the kernel through bwrap: no daemon, no image, works for root and for others. */
export async function createBubblewrapBackend(context: BackendContext): Promise<BackendAttempt> {
  if (process.platform !== "linux") return unavailable("The bubblewrap sandbox needs Linux.");
  const found = findExecutable(context.bubblewrap ?? "bwrap", { path: context.environment["PATH"] ?? "", cwd: "/" });
  if (found.found !== "file")
    return unavailable(
      "The bubblewrap sandbox needs the program bwrap, which is not there: install the package bubblewrap.",
    );
  const { stdout } = await capture(found.file, ["--help"]);
  const isolation: IsolationOptions = {
    temporary_bytes: context.limits.temporary_bytes,
    disableUserns: stdout.includes("--disable-userns"),
  };
  const described = describeLimits(context);
  const prepare = createPrepare(found.file, isolation, described.resources, context);
  const failure = await probe(prepare);
  return failure === undefined
    ? createBackend(prepare, described, context)
    : unavailable(
        `bwrap is there but cannot make a sandbox on this machine: ${failure.trim() || "no reason was given"}.`,
      );
}

type Prepare = (workspace: Workspace, command: Parameters<PrepareCommand>[0]) => Promise<PreparedProcess>;

function createPrepare(
  bwrap: string,
  isolation: IsolationOptions,
  resources: ResourceLimits,
  { limits, programs, cgroups }: BackendContext,
): Prepare {
  return async (workspace, { command, env }) => {
    makeProtectedFolders(workspace);
    const mark = programs.prlimit ? startMark() : undefined;
    const cgroup = programs.sh
      ? cgroups.create({ processes: limits.processes, memory_bytes: limits.memory_bytes, cpus: limits.cpus })
      : undefined;
    // Inside, because a user namespace counts its processes by itself: outside, the server's own would be counted too.
    const inner = limitResources(["/bin/sh", "-c", command], resources, programs.prlimit);
    const variables = Object.entries({ ...ENVIRONMENT, ...env }).flatMap(([name, value]) => ["--setenv", name, value]);
    const sandboxed: Argv = [bwrap, ...bubblewrapArguments(workspace, isolation), ...variables, "--", ...inner];
    const outer = limitResources(sandboxed, mark === undefined ? {} : { rttime: mark }, programs.prlimit);
    const argv = joinCgroup(outer, cgroup, programs);
    const start = { argv, cwd: "/", env: {}, inputs: USER_FILES, mark, cgroup };
    return { type: "process", start, release: async () => cgroup?.remove() };
  };
}

async function createBackend(prepare: Prepare, described: DescribedLimits, context: BackendContext): Promise<Backend> {
  const supervision = await superviseCommands(context);
  return {
    capabilities: { backend: "bubblewrap", shell: true, network: "none", isolation: "namespaces" },
    limits: described.limits,
    warnings: described.warnings,
    rootOf: () => INSIDE,
    openHost: (session_id, workspace) => supervision.openHost(session_id, (command) => prepare(workspace, command)),
    remove: supervision.remove,
    left: supervision.left,
    close: supervision.close,
  };
}

/** Runs `true` the way every command is run, so that what does not work shows at the start and not in the first command. */
async function probe(prepare: Prepare): Promise<string | undefined> {
  const workspace: Workspace = { folder: "/usr", paths: { protected: [], hidden: [] } };
  const prepared = await prepare(workspace, { command: "true", env: {} });
  try {
    const end = await runProcess(prepared.start, { timeout_ms: PROBE_TIMEOUT_MS, outputBytes: 2_000 });
    return end.exit_code === 0 ? undefined : end.output || `exit code ${end.exit_code}`;
  } finally {
    await prepared.release();
  }
}

async function capture(file: string, args: string[]): Promise<{ stdout: string }> {
  const child = spawn(file, args, { env: {}, stdio: ["ignore", "pipe", "ignore"] });
  let stdout = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  await new Promise((resolve, reject) => child.once("error", reject).once("close", resolve));
  return { stdout };
}

function unavailable(message: string): AppError {
  return new AppError("sandbox_unavailable", message);
}
