import type { TokenUsage } from "@cognition/contract";
import type { EventLog } from "@cognition/thread";

const PAGE = 500;

/** What earlier attempts of a run have used, by the last total that they told: a crash takes back no cost. */
export async function lastUsage(
  log: Pick<EventLog, "readEvents">,
  session_id: string,
  run_id: string,
): Promise<TokenUsage | null> {
  let last: TokenUsage | null = null;
  for (let after = 0; ; ) {
    const { events, has_more } = await log.readEvents({ session_id, run_id, after, limit: PAGE, types: ["usage"] });
    for (const { id, event, data } of events) {
      after = id;
      if (event !== "usage") continue;
      const { run_id: _, message_id: _message, agent: _agent, ...usage } = data;
      last = usage;
    }
    if (!has_more) return last;
  }
}
