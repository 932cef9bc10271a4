import type { ClaimedRun, EventLog } from "@cognition/thread";
import { readRunEvents } from "./run-events.ts";

/**
 * After a crash: the last event that still counts. What the run said after its last checkpoint was never part of the
 * thread, and is about to be said again. What it had said when it asked a human stands: nothing was cut off there. So does a move of
 * the head, which is made once.
 */
export async function lastValidEvent(
  log: Pick<EventLog, "readEvents">,
  claimed: Pick<ClaimedRun, "run_id" | "run">,
): Promise<number> {
  const told = await readRunEvents(log, claimed, ["checkpoint", "interrupt", "head_moved", "status"]);
  return told.findLast(({ event, data }) => event !== "status" || data.status === "queued")?.id ?? 0;
}
