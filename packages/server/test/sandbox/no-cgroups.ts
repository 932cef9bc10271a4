import type { Cgroups } from "../../src/sandbox/process/cgroup.ts";

/** A machine where this process may make none, which is what most users have. */
export const NO_CGROUPS: Cgroups = { controllers: new Set(), create: () => undefined };
