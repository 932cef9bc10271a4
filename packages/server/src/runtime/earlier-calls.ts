import { CALL_EVENTS, type Storage, type ToldCall, toldCalls } from "@cognition/thread";
import type { RunWork } from "../run/executor.ts";
import { readRunEvents } from "../run/run-events.ts";
import type { RunScope } from "./run-scope.ts";

/** The tool that hands work to a subagent. */
export const DELEGATION = "task";

/** The calls of earlier attempts that this one has not come to yet, as the log tells them. */
export interface EarlierCalls {
  /** Without a result, such as one that asked a human in its middle: who goes on with it does not tell it again. */
  open: ToldCall[];
  /** Void with all that was said after the last checkpoint, though they had come to their end. */
  taken_back: ToldCall[];
}

/** What the run has told of its calls so far. */
export async function readToldCalls(
  storage: Pick<Storage, "readEvents">,
  { claimed, log }: Pick<RunWork, "claimed" | "log">,
): Promise<ToldCall[]> {
  await log.flush();
  return toldCalls(await readRunEvents(storage, claimed, CALL_EVENTS));
}

export async function readEarlierCalls(storage: Pick<Storage, "readEvents">, work: RunWork): Promise<EarlierCalls> {
  if (work.claimed.run.attempt <= 1) return { open: [], taken_back: [] };
  const told = await readToldCalls(storage, work);
  return {
    open: told.filter(({ ended, taken_back }) => !ended && !taken_back),
    taken_back: told.filter(({ result, taken_back }) => result && taken_back),
  };
}

/** Whether an earlier attempt has told this call, and that stands. From now on it is this attempt's. */
export function takeEarlier({ earlier }: RunScope, id: string, { agent }: { agent?: string }): boolean {
  const isIt = (call: ToldCall) => call.id === id && call.agent === agent;
  earlier.taken_back = earlier.taken_back.filter((call) => !isIt(call));
  const at = earlier.open.findIndex(isIt);
  return at >= 0 && earlier.open.splice(at, 1).length > 0;
}

/**
 * With a step's checkpoint: what of it an earlier attempt had brought to its end, and nobody has done again, belongs to it. Of
 * a step's calls some may have their results in the thread, and so may have those of another agent, while others were cut off.
 */
export function tellTakenBack({ earlier, work }: RunScope): void {
  for (const { id, name, args, agent, result } of earlier.taken_back.splice(0)) {
    const about = agent === undefined ? {} : { agent };
    work.log.hold("tool_call", { ...about, id, name, args });
    if (name === DELEGATION) work.log.hold("delegation", { ...about, ...delegationOf(args) });
    work.log.hold("tool_result", { ...about, tool_call_id: id, ...result });
  }
}

export function delegationOf(args: Record<string, unknown>): { target_agent: string; task: string } {
  const { subagent_type = "", description = "" } = args as { subagent_type?: string; description?: string };
  return { target_agent: subagent_type, task: description };
}
