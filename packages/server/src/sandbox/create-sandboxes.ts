import { realpathSync, statSync } from "node:fs";
import { isAbsolute } from "node:path";
import { AppError, DEFAULT_MAX_FILE_BYTES, DEFAULT_MAX_OUTPUT_BYTES, type SandboxBackend } from "@cognition/contract";
import { HOLDS_FOLDERS } from "../file/open-folder.ts";
import { createTurns } from "../file/turns.ts";
import type { Backend, BackendAttempt, BackendContext, BackendLimits, Workspace } from "./backend.ts";
import { createBubblewrapBackend } from "./bubblewrap/bubblewrap-backend.ts";
import { checkExposure, type Exposure } from "./check-exposure.ts";
import type { CommandHost } from "./command-host.ts";
import type { DockerOptions } from "./docker/docker-options.ts";
import { databaseFiles, resolveProtectedPaths } from "./file/protected-paths.ts";
import { createWorkspaceFiles, type WorkspaceFilesOptions } from "./file/workspace-files.ts";
import { HeldValues } from "./held-values.ts";
import { createLocalBackend } from "./local/local-backend.ts";
import { type Cgroups, findCgroups } from "./process/cgroup.ts";
import { type CommandRunner, createCommandRunner } from "./process/command-runner.ts";
import { findLaunchPrograms } from "./process/launch.ts";
import { createWorkspaceQuota, type WorkspaceQuota } from "./quota/workspace-quota.ts";
import type { Sandbox, Sandboxes } from "./sandbox.ts";

export interface SandboxesOptions {
  /** Any text, as a configuration gives it: an unknown one is refused with what is available here. */
  readonly backend: string;
  /** The server's own environment, of which commands get no more than an allow-list. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Absolute, or relative to each workspace: not to be written, nor named by commands of the local sandbox. */
  readonly protectedPaths?: readonly string[];
  /** The same, and not to be read either: the state database by its path. */
  readonly stateDatabase?: string;
  /** Nor the server's configuration, which may hold keys. */
  readonly configuration?: string;
  /**
   * A folder of the server's own, on a disk of this machine, for commands to outlive the server: their output and how they
   * ended. No agent reads it.
   */
  readonly commandFolder?: string;
  readonly limits?: Partial<BackendLimits>;
  readonly maxFileBytes?: number;
  readonly bubblewrap?: string;
  readonly cgroups?: Cgroups;
  readonly docker?: DockerOptions;
  readonly exposure?: Exposure;
  readonly now?: () => number;
}

const DEFAULT_PROTECTED = [".cognition"];
const FOLLOWS_SWAPPED_FOLDERS =
  "On this operating system a folder that a command swaps for a link during a file operation may lead the operation out of the workspace.";
const MIB = 1024 * 1024;
const DEFAULT_LIMITS: BackendLimits = {
  timeout_ms: 300_000,
  output_bytes: DEFAULT_MAX_OUTPUT_BYTES,
  processes: 256,
  memory_bytes: 512 * MIB,
  cpus: 1,
  file_bytes: 1024 * MIB,
  workspace_bytes: 10 * 1024 * MIB,
  temporary_bytes: 256 * MIB,
};

type CreateBackend = (context: BackendContext) => BackendAttempt | Promise<BackendAttempt>;
const BACKENDS: Record<SandboxBackend, CreateBackend> = {
  local: createLocalBackend,
  bubblewrap: createBubblewrapBackend,
  // Loaded where it is asked for: its client brings gRPC and SSH along.
  docker: async (context) => (await import("./docker/docker-backend.ts")).createDockerBackend(context),
};

/** Stops with `unknown_backend` or `sandbox_unavailable`, which say what this machine has; never takes another one. */
export async function createSandboxes(options: SandboxesOptions): Promise<Sandboxes> {
  const context = createContext(options);
  const backend = await chooseBackend(options.backend, context);
  const exposed = checkExposure(backend.capabilities, options.exposure);
  const warnings = [...backend.warnings, ...exposed, ...(HOLDS_FOLDERS ? [] : [FOLLOWS_SWAPPED_FOLDERS])];
  const open = new HeldValues<OpenSandbox>();
  const share = shareFolders(context.limits);
  /** Held here too, since there is something of theirs to be ended. */
  const busy = new Set<OpenSandbox>();
  let closed: AppError | undefined;

  return {
    async open(session_id, path) {
      const folder = findFolder(path);
      if (closed) throw closed;
      const sandbox = open.getOrMake(session_id, () => {
        const workspace = openWorkspace(folder, options);
        const host = backend.openHost(session_id, workspace);
        return createSandbox(session_id, { backend, workspace, host, busy, options, context, ...share(folder) });
      });
      if (sandbox.workspace !== folder) throw movedWorkspace(session_id, sandbox.workspace);
      return sandbox;
    },
    async remove(session_id) {
      const known = open.get(session_id);
      open.delete(session_id);
      await known?.runner.stop(new AppError("aborted", "The session was removed, and its command with it."));
      if (known) busy.delete(known);
      await backend.remove?.(session_id);
    },
    left: () => backend.left?.() ?? [],
    async close({ leave = false } = {}) {
      closed ??= new AppError("aborted", "The server is shutting down; the command was stopped.");
      const reason = closed;
      await Promise.all(
        open.all().map(async ({ session_id, runner, host }) => {
          await (leave ? runner.leave(reason) : runner.stop(reason));
          await (leave ? host.close() : backend.remove?.(session_id));
        }),
      );
      backend.close?.();
    },
    describe: () => ({
      backend: backend.capabilities.backend,
      capabilities: backend.capabilities,
      limits: {
        ...backend.limits,
        workspace: { value: `${context.limits.workspace_bytes} bytes`, enforced_by: "the server, by looking" },
      },
      circuit_breakers: backend.breakers?.() ?? {},
      warnings,
    }),
  };
}

function createContext(options: SandboxesOptions): BackendContext {
  const { environment, bubblewrap, cgroups = findCgroups() } = options;
  const programs = findLaunchPrograms(environment["PATH"] ?? "/usr/bin:/bin");
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const { docker = {}, now = Date.now, commandFolder } = options;
  return { environment, bubblewrap, cgroups, programs, limits, docker, commandFolder, now };
}

async function chooseBackend(name: string, context: BackendContext): Promise<Backend> {
  const create = Object.hasOwn(BACKENDS, name) ? BACKENDS[name as SandboxBackend] : undefined;
  const attempt = create && (await create(context));
  if (attempt && !(attempt instanceof Error)) return attempt;
  const available = await listAvailable({ ...context, docker: { ...context.docker, reclaim: false } });
  const rest = `Set COGNITION_SANDBOX_BACKEND to one that this machine has: ${available.join(", ")}.`;
  const details = { backend: name, available };
  if (attempt) throw new AppError(attempt.code, `${attempt.message} ${rest}`, { details, cause: attempt });
  throw new AppError("unknown_backend", `There is no sandbox called "${name}". ${rest}`, { details });
}

async function listAvailable(context: BackendContext): Promise<string[]> {
  const tried = Object.entries(BACKENDS).map(async ([name, create]) =>
    (await create(context)) instanceof Error ? [] : [name],
  );
  return (await Promise.all(tried)).flat();
}

function findFolder(path: string): string {
  let cause: unknown;
  try {
    const folder = isAbsolute(path) ? realpathSync.native(path) : undefined;
    if (folder !== undefined && statSync(folder).isDirectory()) return folder;
  } catch (error) {
    cause = error;
  }
  const message = `The workspace "${path}" must be the absolute path of a folder that exists.`;
  throw new AppError("workspace_path_refused", message, { cause });
}

function openWorkspace(folder: string, options: SandboxesOptions): Workspace {
  const { protectedPaths = DEFAULT_PROTECTED, stateDatabase, configuration, commandFolder } = options;
  const hidden = [
    ...(configuration === undefined ? [] : [configuration]),
    ...(stateDatabase === undefined ? [] : databaseFiles(stateDatabase)),
    ...(commandFolder === undefined ? [] : [commandFolder]),
  ];
  return { folder, paths: resolveProtectedPaths(folder, { protected: protectedPaths, hidden }) };
}

/** What is open of a session, held by whoever uses it. */
interface OpenSandbox extends Sandbox {
  readonly workspace: string;
  readonly runner: CommandRunner;
  readonly host: CommandHost;
}

/** What all sandboxes of a folder share, held by the operations that need it. */
type SharedFolder = Pick<WorkspaceFilesOptions, "inTurn"> & { readonly quota: WorkspaceQuota };

function shareFolders({ workspace_bytes }: BackendLimits): (folder: string) => SharedFolder {
  const turn = createTurns();
  const quotas = new HeldValues<WorkspaceQuota>();
  return (folder) => ({
    inTurn: (work) => turn(folder, work),
    quota: quotas.getOrMake(folder, () => createWorkspaceQuota({ folder, limitBytes: workspace_bytes })),
  });
}

type SandboxParts = SharedFolder & {
  readonly backend: Backend;
  readonly workspace: Workspace;
  readonly host: CommandHost;
  readonly busy: Set<OpenSandbox>;
  readonly options: SandboxesOptions;
  readonly context: BackendContext;
};

function createSandbox(session_id: string, parts: SandboxParts): OpenSandbox {
  const { backend, workspace, host, busy, options, context, inTurn, quota } = parts;
  const root = backend.rootOf(workspace);
  const { folder, paths } = workspace;
  const maxBytes = options.maxFileBytes ?? DEFAULT_MAX_FILE_BYTES;
  const runner = createCommandRunner({ host, quota, ...context.limits, now: context.now });
  const sandbox: OpenSandbox = {
    session_id,
    root,
    files: createWorkspaceFiles({ root: folder, aliases: [root], paths, maxBytes, inTurn, quota }),
    capabilities: backend.capabilities,
    execute: async (command, execution) => {
      busy.add(sandbox);
      try {
        return await runner.execute(command, execution);
      } finally {
        if (runner.running().length === 0 && !backend.keepsHosts) busy.delete(sandbox);
      }
    },
    running: runner.running,
    knows: host.knows,
    stop: host.stop,
    forget: host.forget,
    workspace: folder,
    runner,
    host,
  };
  if (backend.keepsHosts) busy.add(sandbox);
  return sandbox;
}

function movedWorkspace(session_id: string, workspace: string): AppError {
  return new AppError(
    "validation_failed",
    `The sandbox of session ${session_id} is open on ${workspace}. Remove it before it is opened on another folder.`,
  );
}
