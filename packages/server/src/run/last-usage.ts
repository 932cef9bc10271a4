import type { TokenUsage } from "@cognition/contract";
import type { ClaimedRun, EventLog } from "@cognition/thread";
import { readRunEvents } from "./run-events.ts";

/** What earlier attempts of a run have used, by the last total that they told: a crash takes back no cost. */
export async function lastUsage(
  log: Pick<EventLog, "readEvents">,
  claimed: Pick<ClaimedRun, "run_id" | "run">,
): Promise<TokenUsage | null> {
  const last = (await readRunEvents(log, claimed, ["usage"])).at(-1);
  if (last?.event !== "usage") return null;
  const { run_id: _, message_id: _message, agent: _agent, ...usage } = last.data;
  return usage;
}
