import { setTimeout as delay } from "node:timers/promises";
import { isAppError } from "@cognition/contract";
import { AWAY } from "./not-the-runs.ts";

const FIRST_WAIT_MS = 50;
const LONGEST_WAIT_MS = 2_000;

/**
 * Repeats what failed because the storage was away. A run that is done must not fail for want of a connection; whether
 * it is still this node's to end, the storage says itself (`stale_epoch`, `run_ended`) once it is back.
 */
export async function retryStorage<T>(signal: AbortSignal | undefined, attempt: () => Promise<T>): Promise<T> {
  for (let wait = FIRST_WAIT_MS; ; wait = Math.min(wait * 2, LONGEST_WAIT_MS)) {
    try {
      return await attempt();
    } catch (error) {
      if (!isAppError(error, ...AWAY) || signal?.aborted) throw error;
      await delay(wait);
    }
  }
}
