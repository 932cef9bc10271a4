import type { AppError, CircuitBreaker } from "@cognition/contract";
import type { CommandHost } from "./command-host.ts";
import type { DockerOptions } from "./docker/docker-options.ts";
import type { ProtectedPaths } from "./file/protected-paths.ts";
import type { Cgroups } from "./process/cgroup.ts";
import type { LaunchPrograms } from "./process/launch.ts";
import type { LeftCommand, SandboxCapabilities, SandboxDescription } from "./sandbox.ts";

/** What commands call the workspace, in a sandbox with a file tree of its own. */
export const INSIDE = "/workspace";

/** The folder of one session. */
export interface Workspace {
  /** On this machine, absolute and without links. */
  readonly folder: string;
  readonly paths: ProtectedPaths;
}

/** How one kind of sandbox runs commands; the rest is the same for all that work on folders of this machine. */
export interface Backend {
  readonly capabilities: SandboxCapabilities;
  readonly limits: SandboxDescription["limits"];
  readonly warnings: readonly string[];
  /** What commands call the workspace. */
  rootOf(workspace: Workspace): string;
  /** Makes nothing yet. */
  openHost(session_id: string, workspace: Workspace): CommandHost;
  /** Its hosts have something to end or to tell when they are closed, and are kept until then. */
  readonly keepsHosts?: true;
  /** Takes away what was made for the session, by this process or one before it, and ends what still runs in it. */
  remove?(session_id: string): Promise<void>;
  /** Commands that outlived the process that began them, where the back end can tell. */
  left?(): readonly LeftCommand[];
  /** Lets go of what it holds for all sessions; commands that were left running go on. */
  close?(): void;
  /** The health of what it depends on, by name. */
  breakers?(): Readonly<Record<string, CircuitBreaker>>;
}

export interface BackendLimits {
  readonly timeout_ms: number;
  readonly output_bytes: number;
  readonly processes: number;
  readonly memory_bytes: number;
  readonly cpus: number;
  /** Of one file that a command writes. */
  readonly file_bytes: number;
  /** Of all files of the workspace together. */
  readonly workspace_bytes: number;
  /** Of all files in /tmp, and again in /dev/shm. */
  readonly temporary_bytes: number;
}

/** What back ends are made from. */
export interface BackendContext {
  readonly limits: BackendLimits;
  /** The server's environment. Only an allow-list of names is ever passed on. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** A path of bwrap; looked up along PATH otherwise. */
  readonly bubblewrap: string | undefined;
  readonly cgroups: Cgroups;
  readonly programs: LaunchPrograms;
  readonly docker: DockerOptions;
  /** Where commands leave what the next server needs to find them; without it they end with this one. */
  readonly commandFolder: string | undefined;
  readonly now: () => number;
}

/** The back end, or why this machine cannot have it: a sentence for a person. */
export type BackendAttempt = Backend | AppError;
