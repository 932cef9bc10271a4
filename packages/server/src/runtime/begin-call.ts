import { isAppError } from "@cognition/contract";
import type { ToolCallIntent, ToolCallKey, ToolCallState, ToolJournal } from "@cognition/thread";
import type { RunWork } from "../run/executor.ts";
import { retryStorage } from "../run/retry-storage.ts";
import { callName, type RunScope } from "./run-scope.ts";

/** Whoever closes the journal waits for this: an intent that is recorded later would stay open for ever. */
export function beginCall(scope: RunScope, intent: ToolCallIntent): Promise<ToolCallState> {
  const beginning = recordIntent(scope, intent);
  const settled: Promise<unknown> = Promise.allSettled([beginning]);
  scope.beginning.add(settled);
  void settled.then(() => scope.beginning.delete(settled));
  return beginning;
}

/** A run that is stopped while its intent is recorded and counted begins nothing: the intent is taken back. */
async function recordIntent({ work, journal, budget }: RunScope, intent: ToolCallIntent): Promise<ToolCallState> {
  work.signal.throwIfAborted();
  const state = await beginOnce(work, journal, intent);
  if (state.state === "started") await budget.countToolCall(); // where there is no room for it, the signal has aborted
  if (!work.signal.aborted) return state;
  // Of what an earlier attempt had begun already nobody knows whether it took effect: that intent stays.
  if (state.state === "started" && state.attempt === 1) await journal.withdrawToolCall(intent, work.lease);
  throw work.signal.reason;
}

/** A connection may be lost before or after the commit; an intent of this very lease was then ours, and nothing has begun. */
async function beginOnce(work: RunWork, journal: ToolJournal, intent: ToolCallIntent): Promise<ToolCallState> {
  let asked = false;
  return retryStorage(work.signal, async () => {
    const again = asked;
    asked = true;
    try {
      return await journal.beginToolCall(intent);
    } catch (error) {
      if (!again || !isAppError(error, "tool_call_started")) throw error;
      await journal.withdrawToolCall(intent, work.lease);
      return journal.beginToolCall(intent);
    }
  });
}

/** Whether an attempt of this run has begun the call, whatever it came to. */
export async function hasBegun(
  { journal, work }: Pick<RunScope, "journal" | "work">,
  key: Pick<ToolCallKey, "checkpoint_ns" | "tool_call_id">,
): Promise<boolean> {
  const calls = await journal.listToolCalls(work.claimed.run_id);
  return calls.some((call) => callName(call) === callName(key));
}
