import type { StoredEvent } from "@cognition/contract";
import type { ClaimedRun, EventLog } from "@cognition/thread";

const PAGE = 500;

/** What earlier attempts of a run, and this one so far, have told of these kinds. */
export async function readRunEvents(
  log: Pick<EventLog, "readEvents">,
  { run_id, run: { session_id } }: Pick<ClaimedRun, "run_id" | "run">,
  types: readonly StoredEvent["event"][],
): Promise<StoredEvent[]> {
  const found: StoredEvent[] = [];
  for (let after = 0; ; after = found.at(-1)?.id ?? after) {
    const { events, has_more } = await log.readEvents({ session_id, run_id, after, limit: PAGE, types });
    found.push(...events);
    if (!has_more) return found;
  }
}
