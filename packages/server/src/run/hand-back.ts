import { setTimeout as delay } from "node:timers/promises";
import { isAppError } from "@cognition/contract";
import type { Storage } from "@cognition/thread";
import type { RunWork } from "./executor.ts";
import { NOT_THE_RUNS } from "./not-the-runs.ts";
import { retryStorage } from "./retry-storage.ts";

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;

type Left = Pick<RunWork, "claimed" | "lease" | "drain">;

/**
 * As soon as the storage is back the run is free for any node, with no wait for the lease, and what cut it off does not
 * count against it: a run that is given up after three attempts must not be one that only saw three bad connections.
 */
export async function handBack(storage: Pick<Storage, "releaseRun">, { claimed, lease, drain }: Left): Promise<void> {
  await pause(claimed.run.attempt, drain);
  try {
    await retryStorage(undefined, () => storage.releaseRun(lease));
  } catch (error) {
    if (!isAppError(error, ...NOT_THE_RUNS)) throw error; // somebody else has it already
  }
}

/** A storage that has room for a claim and none for a checkpoint would have the run call its model again and again. */
async function pause(attempt: number, drain: AbortSignal): Promise<void> {
  if (attempt <= 1 || drain.aborted) return;
  const ms = Math.min(FIRST_PAUSE_MS * 2 ** (attempt - 2), LONGEST_PAUSE_MS);
  await delay(ms, undefined, { signal: drain }).catch(() => undefined); // a node that shuts down waits for nothing
}
