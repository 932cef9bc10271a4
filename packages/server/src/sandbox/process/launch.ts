import type { Cgroup } from "./cgroup.ts";
import { findExecutable } from "./find-executable.ts";

export type Argv = readonly [string, ...string[]];

/** What a process and its children may use, each. */
export interface ResourceLimits {
  /** Counted per user of the system, and by the kernel only for users other than root. */
  readonly nproc?: number;
  readonly data?: number;
  readonly fsize?: number;
  readonly rttime?: number;
}

/** Programs of the system that a command is started through. */
export interface LaunchPrograms {
  readonly sh: string | undefined;
  readonly prlimit: string | undefined;
}

export function findLaunchPrograms(path: string): LaunchPrograms {
  const find = (name: string) => {
    const result = findExecutable(name, { path, cwd: "/" });
    return result.found === "file" ? result.file : undefined;
  };
  return { sh: find("sh"), prlimit: process.platform === "linux" ? find("prlimit") : undefined };
}

/**
 * A process must join its group before it can fork, and Node has no hook between the two. The script is fixed and the
 * command only its arguments, which the shell passes on as they are: nothing in them is ever interpreted.
 */
const JOIN = 'while [ "$1" != -- ]; do echo 0 > "$1/cgroup.procs" || exit 125; shift; done; shift; exec "$@"';

export function joinCgroup(argv: Argv, cgroup: Cgroup | undefined, { sh }: LaunchPrograms): Argv {
  return cgroup && sh ? [sh, "-c", JOIN, "sh", ...cgroup.folders, "--", ...argv] : argv;
}

/** Hard limits, which no child can raise again. Without the program the command runs without them: see `describe`. */
export function limitResources(argv: Argv, limits: ResourceLimits, prlimit: string | undefined): Argv {
  if (!prlimit) return argv;
  const flags = Object.entries({ ...limits, core: 0 }).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name}=${value}:${value}`],
  );
  return [prlimit, ...flags, "--", ...argv];
}
