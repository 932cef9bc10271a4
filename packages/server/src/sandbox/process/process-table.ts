import { readdirSync, readFileSync, statSync } from "node:fs";
import { hasCode } from "../../file/error-text.ts";

export interface ProcessEntry {
  readonly pid: number;
  readonly ppid: number;
  readonly pgrp: number;
  readonly session: number;
  /** In clock ticks since boot. */
  readonly started: number;
  readonly threads: number;
  readonly dead: boolean;
}

/** All processes that this one can see; empty where there is no /proc. */
export function listProcesses(): ProcessEntry[] {
  let names: string[];
  try {
    names = readdirSync("/proc");
  } catch (error) {
    if (hasCode(error, "ENOENT")) return [];
    throw error;
  }
  return names.flatMap((name) => (/^\d+$/.test(name) ? (findProcess(Number(name)) ?? []) : []));
}

export function findProcess(pid: number): ProcessEntry | undefined {
  const stat = readEntry(pid, "stat");
  if (stat === undefined) return undefined;
  // The name in brackets may itself hold spaces and brackets, so the fields are counted from the last one.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const at = (index: number) => Number(fields[index]);
  const dead = fields[0] === "Z" || fields[0] === "X";
  return { pid, dead, ppid: at(1), pgrp: at(2), session: at(3), threads: at(17), started: at(19) };
}

/** How many threads a user has on the whole machine: what the kernel compares with RLIMIT_NPROC. */
export function countTasks(uid: number): number {
  const own = listProcesses().filter(({ pid, dead }) => !dead && ownerOf(pid) === uid);
  return own.reduce((sum, { threads }) => sum + threads, 0);
}

function ownerOf(pid: number): number | undefined {
  return statSync(`/proc/${pid}`, { throwIfNoEntry: false })?.uid;
}

/** Whether a process has this limit, which it can only have inherited. */
export function hasRealtimeLimit(pid: number, limit: number): boolean {
  const line = readEntry(pid, "limits")?.match(/^Max realtime timeout +(\d+)/m);
  return line?.[1] === String(limit);
}

function readEntry(pid: number, name: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${name}`, "utf8");
  } catch (error) {
    // It ended between the listing and the reading, or belongs to somebody else.
    if (hasCode(error, "ENOENT", "ESRCH", "EACCES", "EPERM")) return undefined;
    throw error;
  }
}
