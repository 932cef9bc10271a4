import { AppError } from "@cognition/contract";
import type { Backend, BackendContext, Workspace } from "../backend.ts";
import { checkFolder } from "../file/check-folder.ts";
import { findExecutable } from "../process/find-executable.ts";
import { type Argv, joinCgroup, limitResources, type ResourceLimits } from "../process/launch.ts";
import type { PrepareCommand, PreparedCommand } from "../process/process-host.ts";
import { countTasks } from "../process/process-table.ts";
import { startMark } from "../process/process-tree.ts";
import type { SandboxLimit } from "../sandbox.ts";
import { superviseCommands } from "../supervisor/supervise-commands.ts";
import { checkCommand } from "./check-command.ts";
import { commandEnvironment } from "./command-environment.ts";
import { splitCommand } from "./split-command.ts";

const BUILT_INTO_SHELLS = new Set([
  ...["alias", "bg", "cd", "declare", "eval", "exec", "exit", "export", "fg", "history", "jobs", "local", "popd"],
  ...["pushd", "read", "return", "set", "shift", "source", "trap", "ulimit", "umask", "unalias", "unset", "wait", "."],
]);

/** Commands run as the server's own user, with its files and network: for a developer's machine and trusted code. */
export async function createLocalBackend(context: BackendContext): Promise<Backend> {
  const { limits, environment, programs, cgroups } = context;
  const supervision = await superviseCommands(context);
  const processes = processLimit(context);

  const prepare = async (workspace: Workspace, { command, env: added }: Parameters<PrepareCommand>[0]) => {
    const words = splitCommand(command);
    const [program, ...args] = words;
    if (program === undefined) throw new AppError("validation_failed", "The command is empty. Nothing was run.");
    checkFolder(workspace);
    await checkCommand(words, workspace);
    const env = commandEnvironment(environment, workspace.folder, added);
    const found = findExecutable(program, { path: env["PATH"] ?? "", cwd: workspace.folder });
    if (found.found !== "file") return cannotRun(program, found.found);
    const mark = programs.prlimit ? startMark() : undefined;
    const cgroup = programs.sh ? cgroups.create({ processes: limits.processes }) : undefined;
    const limited = limitResources([found.file, ...args], resourceLimits(mark, processes), programs.prlimit);
    const argv: Argv = joinCgroup(limited, cgroup, programs);
    const start = { argv, cwd: workspace.folder, env, mark, cgroup };
    return { type: "process" as const, start, release: async () => cgroup?.remove() };
  };

  return {
    capabilities: { backend: "local", shell: false, network: "host", isolation: "none" },
    limits: {
      time: { value: `${limits.timeout_ms} ms`, enforced_by: "the server" },
      output: { value: `${limits.output_bytes} bytes`, enforced_by: "the server" },
      processes: processes.limit,
    },
    warnings: [
      "The local sandbox does not isolate: a command can read and change whatever the server's user can. Use bubblewrap or docker for code or users that are not trusted.",
      ...(processes.limit.enforced_by ? [] : ["The number of processes of a command is not limited on this machine."]),
    ],
    rootOf: ({ folder }) => folder,
    openHost: (session_id, workspace) => supervision.openHost(session_id, (command) => prepare(workspace, command)),
    remove: supervision.remove,
    left: supervision.left,
    close: supervision.close,
  };
}

interface ProcessLimit {
  readonly limit: SandboxLimit;
  readonly nproc: () => number | undefined;
}

function processLimit({ limits, programs, cgroups }: BackendContext): ProcessLimit {
  const value = `${limits.processes} processes`;
  if (cgroups.controllers.has("pids") && programs.sh)
    return { limit: { value, enforced_by: "cgroup" }, nproc: () => undefined };
  const uid = process.getuid?.() ?? 0;
  if (programs.prlimit && uid !== 0) {
    // The kernel counts all that the user runs, on the whole machine, so what runs already comes on top.
    const nproc = () => countTasks(uid) + limits.processes;
    return { limit: { value, enforced_by: "prlimit, for all processes of the server's user" }, nproc };
  }
  return { limit: { value, enforced_by: null }, nproc: () => undefined };
}

function resourceLimits(mark: number | undefined, { nproc }: ProcessLimit): ResourceLimits {
  const processes = nproc();
  return { ...(mark !== undefined && { rttime: mark }), ...(processes !== undefined && { nproc: processes }) };
}

function cannotRun(program: string, reason: "not_executable" | "nothing"): PreparedCommand {
  if (reason === "not_executable")
    return { type: "ended", exit_code: 126, output: `${program}: permission denied, it is not an executable file\n` };
  const hint = BUILT_INTO_SHELLS.has(program)
    ? `: it is built into shells, and the local sandbox has none. Each command starts in the workspace folder by itself`
    : "";
  return { type: "ended", exit_code: 127, output: `${program}: command not found${hint}\n` };
}
