import type { AppError } from "@cognition/contract";
import type { ProtectedPaths } from "./file/protected-paths.ts";
import type { Cgroups } from "./process/cgroup.ts";
import type { PreparedCommand } from "./process/command-runner.ts";
import type { LaunchPrograms } from "./process/launch.ts";
import type { ExecuteOptions, SandboxCapabilities, SandboxDescription } from "./sandbox.ts";

/** The folder of one session. */
export interface Workspace {
  /** On this machine, absolute and without links. */
  readonly folder: string;
  readonly paths: ProtectedPaths;
}

/** How one kind of sandbox starts a command; the rest is the same for all that work on folders of this machine. */
export interface Backend {
  readonly capabilities: SandboxCapabilities;
  readonly limits: SandboxDescription["limits"];
  readonly warnings: readonly string[];
  /** What commands call the workspace. */
  rootOf(workspace: Workspace): string;
  prepare(workspace: Workspace, command: string, options: ExecuteOptions): Promise<PreparedCommand>;
}

export interface BackendLimits {
  readonly timeout_ms: number;
  readonly output_bytes: number;
  readonly processes: number;
  readonly memory_bytes: number;
  readonly cpus: number;
  /** Of one file that a command writes. */
  readonly file_bytes: number;
  /** Of all files in /tmp, and again in /dev/shm. */
  readonly temporary_bytes: number;
}

/** What back ends are made from. */
export interface BackendContext {
  readonly limits: BackendLimits;
  /** The server's environment. Only an allow-list of names is ever passed on. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly network: SandboxCapabilities["network"];
  /** A path of bwrap; looked up along PATH otherwise. */
  readonly bubblewrap: string | undefined;
  /** Folders outside the system's own that commands in a sandbox may read, such as a language's installation. */
  readonly readOnlyPaths: readonly string[];
  readonly cgroups: Cgroups;
  readonly programs: LaunchPrograms;
}

/** The back end, or why this machine cannot have it: a sentence for a person. */
export type BackendAttempt = Backend | AppError;
