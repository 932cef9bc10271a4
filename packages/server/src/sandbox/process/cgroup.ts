import { randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { hasCode } from "../../file/error-text.ts";

type Controller = "pids" | "memory" | "cpu";

interface CgroupLimits {
  readonly processes?: number;
  readonly memory_bytes?: number;
  readonly cpus?: number;
}

/** The kernel's own group of processes: a member's children are members, whatever they do. */
export interface Cgroup {
  /** A process joins by writing 0 into `cgroup.procs` of each. */
  readonly folders: readonly string[];
  pids(): number[];
  remove(): Promise<void>;
}

export interface Cgroups {
  readonly controllers: ReadonlySet<Controller>;
  create(limits: CgroupLimits): Cgroup | undefined;
}

export interface CgroupOptions {
  /** Where this process says which groups it is in, and where they are mounted. */
  readonly proc?: string;
}

const CONTROLLERS: readonly Controller[] = ["pids", "memory", "cpu"];
const PROBE_FILES: Record<Controller, readonly string[]> = {
  pids: ["pids.max"],
  memory: ["memory.max", "memory.limit_in_bytes"],
  cpu: ["cpu.max", "cpu.cfs_quota_us"],
};
const CPU_PERIOD_US = 100_000;
/** The kernel takes a moment to let go of the last member after it has died. */
const REMOVE_WITHIN_MS = 1_000;
/** Younger ones may belong to a command that is just being started. */
const STALE_AFTER_MS = 60_000;
/**
 * Not the number alone: it is used again, in a container by every server, and what is left of a command of the one before
 * would be stopped by killing a command of this one.
 */
const OWN = `cognition-${process.pid}-${randomBytes(4).toString("hex")}`;
let serial = 0;

/**
 * Finds the controllers under which this process may make groups of its own, by trying. In version 2 that takes a
 * delegated subtree; the process is never moved to get one.
 */
export function findCgroups({ proc = "/proc/self" }: CgroupOptions = {}): Cgroups {
  const parents = new Map<Controller, string>();
  for (const [controller, folder] of findFolders(proc))
    if (canCreate(folder, controller)) parents.set(controller, folder);
  const controllers = new Set(parents.keys());
  for (const parent of new Set(parents.values())) removeStale(parent);
  return { controllers, create: (limits) => createCgroup(parents, limits) };
}

function createCgroup(parents: ReadonlyMap<Controller, string>, limits: CgroupLimits): Cgroup | undefined {
  const wanted = CONTROLLERS.filter((name) => limitOf(name, limits) !== undefined && parents.has(name));
  if (wanted.length === 0) return undefined;
  const name = `${OWN}-${++serial}`;
  const folders = [...new Set(wanted.map((controller) => join(parents.get(controller) ?? "", name)))];
  const made: string[] = [];
  try {
    for (const folder of folders) {
      mkdirSync(folder);
      made.push(folder);
    }
    for (const controller of wanted) setLimit(join(parents.get(controller) ?? "", name), controller, limits);
  } catch (error) {
    for (const folder of made) rmdirSync(folder);
    throw error;
  }
  return openCgroup(folders);
}

/** One that was made before, perhaps by another process. */
export function openCgroup(folders: readonly string[]): Cgroup {
  return { folders, pids: () => folders.slice(0, 1).flatMap(readMembers), remove: () => removeFolders(folders) };
}

function limitOf(controller: Controller, { processes, memory_bytes, cpus }: CgroupLimits): number | undefined {
  return { pids: processes, memory: memory_bytes, cpu: cpus }[controller];
}

function setLimit(folder: string, controller: Controller, limits: CgroupLimits): void {
  const files = new Set(readdirSync(folder));
  const set = (name: string, value: number | string) => {
    if (files.has(name)) writeFileSync(join(folder, name), `${value}`);
  };
  const value = limitOf(controller, limits) ?? 0;
  if (controller === "pids") set("pids.max", value);
  if (controller === "memory") {
    set("memory.max", value);
    set("memory.limit_in_bytes", value);
    // Without these swap doubles the limit; in version 1 the sum of both is what is limited.
    set("memory.swap.max", 0);
    set("memory.memsw.limit_in_bytes", value);
  }
  if (controller === "cpu") {
    const quota = Math.max(1_000, Math.round(value * CPU_PERIOD_US));
    set("cpu.max", `${quota} ${CPU_PERIOD_US}`);
    set("cpu.cfs_period_us", CPU_PERIOD_US);
    set("cpu.cfs_quota_us", quota);
  }
}

function findFolders(proc: string): Map<Controller, string> {
  const found = new Map<Controller, string>();
  const memberships = readLines(join(proc, "cgroup")).map((line) => line.split(":"));
  for (const line of readLines(join(proc, "mountinfo"))) {
    const [left = "", right = ""] = line.split(" - ");
    const [type, , options = ""] = right.split(" ");
    const mountPoint = left.split(" ")[4] ?? "";
    for (const controller of CONTROLLERS) {
      const own = memberships.find(([id, names = ""]) =>
        type === "cgroup2" ? id === "0" : names.split(",").includes(controller),
      );
      const fits = type === "cgroup2" || (type === "cgroup" && options.split(",").includes(controller));
      // A controller belongs to one version at a time: the first, where it is mounted as such.
      if (fits && own && (type === "cgroup" || !found.has(controller)))
        found.set(controller, join(mountPoint, own.slice(2).join(":")));
    }
  }
  return found;
}

function canCreate(parent: string, controller: Controller): boolean {
  const probe = join(parent, `${OWN}-probe`);
  try {
    mkdirSync(probe);
  } catch {
    // Not ours to write, mounted read-only, or not there at all: each means that this controller cannot be used.
    return false;
  }
  try {
    const files = readdirSync(probe);
    return PROBE_FILES[controller].some((name) => files.includes(name));
  } finally {
    rmdirSync(probe);
  }
}

function readMembers(folder: string): number[] {
  return readLines(join(folder, "cgroup.procs")).map(Number);
}

function readLines(file: string): string[] {
  try {
    return readFileSync(file, "utf8").split("\n").filter(Boolean);
  } catch (error) {
    if (hasCode(error, "ENOENT")) return [];
    throw error;
  }
}

async function removeFolders(folders: readonly string[]): Promise<void> {
  const deadline = performance.now() + REMOVE_WITHIN_MS;
  for (const folder of folders) {
    while (!tryRemove(folder)) {
      // What is left is empty and is removed by the next start, see removeStale.
      if (performance.now() > deadline) return;
      await delay(5);
    }
  }
}

function tryRemove(folder: string): boolean {
  try {
    rmdirSync(folder);
    return true;
  } catch (error) {
    if (hasCode(error, "ENOENT")) return true;
    if (hasCode(error, "EBUSY")) return false;
    throw error;
  }
}

/** A server that was killed leaves the groups of its commands behind. Those with members are left alone. */
function removeStale(parent: string): void {
  for (const name of readdirSync(parent)) {
    if (!/^cognition-\d+-/.test(name) || name.startsWith(OWN)) continue;
    const folder = join(parent, name);
    const age = Date.now() - (statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    if (age > STALE_AFTER_MS && readMembers(folder).length === 0) tryRemove(folder);
  }
}
