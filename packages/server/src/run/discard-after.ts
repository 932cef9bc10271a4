import type { EventLog } from "@cognition/thread";

const PAGE = 500;

/**
 * After a crash: the last event that still counts. What the run said after its last checkpoint was never part of the
 * thread, and is about to be said again.
 */
export async function lastValidEvent(
  log: Pick<EventLog, "readEvents">,
  session_id: string,
  run_id: string,
): Promise<number> {
  let last = 0;
  for (let after = 0; ; ) {
    const { events, has_more } = await log.readEvents({
      session_id,
      run_id,
      after,
      limit: PAGE,
      types: ["checkpoint", "status"],
    });
    for (const { id, event, data } of events) {
      if (event === "checkpoint" || (event === "status" && data.status === "queued")) last = id;
      after = id;
    }
    if (!has_more) return last;
  }
}
