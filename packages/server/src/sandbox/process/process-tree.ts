import { setTimeout as delay } from "node:timers/promises";
import { AppError } from "@cognition/contract/app-error";
import { hasCode } from "../../file/error-text.ts";
import type { Cgroup } from "./cgroup.ts";
import { findProcess, hasRealtimeLimit, listProcesses, type ProcessEntry } from "./process-table.ts";

/** Everything that one command has started, however it tried to get away. */
export interface ProcessTree {
  /** To the group, the way a terminal would: a chance to clean up. */
  terminate(): void;
  /** Kills until nothing is left or the time is up; the pids that are left. */
  kill(withinMs: number): Promise<readonly number[]>;
}

export interface ProcessTreeOptions {
  /** The leader of its own session and process group. */
  readonly pid: number;
  /** The value of the otherwise unused real-time limit that the command was started with, see `startMark`. */
  readonly mark: number | undefined;
  readonly cgroup: Cgroup | undefined;
  /** When the leader began, for one that another process started: it may have ended, and its number be somebody else's. */
  readonly started?: number;
}

/** Doubled after each look: most processes are gone within a millisecond, and a look costs as much on a busy machine. */
const FIRST_LOOK_MS = 1;
const LAST_LOOK_MS = 20;
/** No process has this number. */
const NOBODY = -1;

/**
 * How a process that made itself a daemon (setsid, two forks, a clean environment) is known again: by an odd hard limit
 * that all descendants inherit and that stands in /proc. RLIMIT_RTTIME bounds only real-time scheduling, which
 * commands have no right to, so its value is free to carry a number.
 */
export function startMark(): number {
  return 2 ** 40 + Math.floor(Math.random() * 2 ** 40);
}

export function createProcessTree({ pid, mark, cgroup, ...known }: ProcessTreeOptions): ProcessTree {
  const started = known.started ?? findProcess(pid)?.started ?? 0;
  const onlyGroups = process.platform !== "linux";

  /** Not in the group yet while it is being started. */
  const leader = () => {
    const entry = findProcess(pid);
    return entry && !entry.dead && entry.started === started ? [pid] : [];
  };

  /** The number is a stranger's by now: neither it nor a group or session of that name is ours. */
  const isReused = () => {
    const entry = onlyGroups ? undefined : findProcess(pid);
    return entry !== undefined && entry.started !== started;
  };

  const survivors = (): number[] => {
    if (onlyGroups) return signalGroup(pid, 0) ? [pid] : [];
    if (cgroup) return [...new Set([...cgroup.pids(), ...leader()])];
    const alive = listProcesses().filter((entry) => !entry.dead && entry.started >= started);
    return [...findDescendants(alive, { pid: isReused() ? NOBODY : pid, mark })];
  };

  return {
    terminate: () => void (isReused() || signalGroup(pid, "SIGTERM")),
    async kill(withinMs) {
      const deadline = performance.now() + withinMs;
      for (let pause = FIRST_LOOK_MS; ; pause = Math.min(2 * pause, LAST_LOOK_MS)) {
        const left = survivors();
        if (left.length === 0) return [];
        if (performance.now() > deadline) return left;
        // The group first and at once: a process that forks faster than it can be listed must not outrun the loop.
        if (!isReused() && left.some((each) => onlyGroups || findProcess(each)?.pgrp === pid))
          signalGroup(pid, "SIGKILL");
        for (const each of left) signalProcess(each, "SIGKILL");
        await delay(pause);
      }
    },
  };
}

export function notKilled(pids: readonly number[]): AppError {
  return new AppError(
    "outcome_unknown",
    `The command was stopped, but processes that it started could not be killed (${pids.join(", ")}). What they still do is not known; end them by hand.`,
    { details: { pids } },
  );
}

function findDescendants(alive: ProcessEntry[], { pid, mark }: { pid: number; mark: number | undefined }): Set<number> {
  const found = new Set<number>();
  const belongs = (entry: ProcessEntry) =>
    entry.pid === pid ||
    entry.pgrp === pid ||
    entry.session === pid ||
    found.has(entry.ppid) ||
    (mark !== undefined && hasRealtimeLimit(entry.pid, mark));
  for (let grown = true; grown; ) {
    const before = found.size;
    for (const entry of alive) if (!found.has(entry.pid) && belongs(entry)) found.add(entry.pid);
    // Only ancestry can add to what the first pass found: a child may be listed before its parent.
    grown = found.size > before;
  }
  return found;
}

function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  return signalProcess(-pid, signal);
}

function signalProcess(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch (error) {
    // Gone already, or (EPERM) a process that changed its user: the next listing tells whether it is still there.
    if (hasCode(error, "ESRCH", "EPERM")) return false;
    throw error;
  }
}
