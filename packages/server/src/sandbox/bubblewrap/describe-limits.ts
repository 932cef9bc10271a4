import type { BackendContext } from "../backend.ts";
import type { ResourceLimits } from "../process/launch.ts";
import type { SandboxDescription, SandboxLimit } from "../sandbox.ts";

export interface DescribedLimits {
  readonly limits: SandboxDescription["limits"];
  readonly warnings: readonly string[];
  /** What each process inside is started with. */
  readonly resources: ResourceLimits;
}

/** Says which limits hold on this machine and by what, and which do not. */
export function describeLimits({ limits, cgroups, programs }: BackendContext): DescribedLimits {
  const group = (name: "pids" | "memory" | "cpu") => cgroups.controllers.has(name) && programs.sh !== undefined;
  const prlimit = programs.prlimit !== undefined;
  // The kernel never applies this limit to processes of the real root, whatever they are called inside.
  const countsProcesses = prlimit && process.getuid?.() !== 0;
  const processes = by(`${limits.processes} processes`, [group("pids"), "cgroup"], [countsProcesses, "prlimit"]);
  const memory = by(
    `${limits.memory_bytes} bytes`,
    [group("memory"), "cgroup"],
    [prlimit, "prlimit, for each process by itself"],
  );
  const cpu = by(`${limits.cpus} cores`, [group("cpu"), "cgroup"]);
  const file_size = by(`${limits.file_bytes} bytes in one file`, [prlimit, "prlimit"]);
  return {
    limits: {
      time: { value: `${limits.timeout_ms} ms`, enforced_by: "the server" },
      output: { value: `${limits.output_bytes} bytes`, enforced_by: "the server" },
      temporary_files: { value: `${limits.temporary_bytes} bytes in /tmp`, enforced_by: "tmpfs" },
      ...{ processes, memory, cpu, file_size },
    },
    warnings: Object.entries({ processes, memory, cpu, file_size }).flatMap(([name, { value, enforced_by }]) =>
      enforced_by ? [] : [`The limit of ${value} (${name}) of a command is not enforced on this machine.`],
    ),
    resources: {
      fsize: limits.file_bytes,
      ...(countsProcesses && { nproc: limits.processes }),
      // RLIMIT_DATA counts what is really writable. RLIMIT_AS would count address space that Node, Go and Java only reserve.
      ...(!group("memory") && { data: limits.memory_bytes }),
    },
  };
}

function by(value: string, ...ways: readonly (readonly [boolean, string])[]): SandboxLimit {
  return { value, enforced_by: ways.find(([works]) => works)?.[1] ?? null };
}
