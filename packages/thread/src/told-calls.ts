import type { StoredEvent } from "@cognition/contract";
import type { ToolOutcome } from "./tool-journal.ts";

/** A tool call as the log of its run tells it. */
export interface ToldCall {
  id: string;
  name: string;
  args: Record<string, unknown>;
  /** Whose it is, unless it is the session's own agent's. */
  agent?: string;
  /** As it was told last, even if that is void. */
  result?: ToldResult;
  /** Its result is told, and stands. */
  ended: boolean;
  /** A later attempt has declared it void, or its result at least, and has not told it again. */
  taken_back: boolean;
}

export interface ToldResult {
  outcome: ToolOutcome;
  output: string;
  exit_code: number | null;
}

/** The events that `toldCalls` goes by. */
export const CALL_EVENTS = ["tool_call", "tool_result", "status"] as const satisfies readonly StoredEvent["event"][];

type ResultData = ToldResult & { tool_call_id: string; agent?: string };

interface Followed extends ToldCall {
  attempt: number;
  told_at: number;
  ended_at: number;
}

/**
 * What a run's events tell of its tool calls, in the order in which they were made. A call that a later attempt goes on with
 * may be told again, and is the same one; within an attempt the same id once more is another call.
 */
export function toldCalls(events: Iterable<Pick<StoredEvent, "id" | "event" | "data">>): ToldCall[] {
  const calls: Followed[] = [];
  let attempt = 0;
  for (const { id: at, event, data } of events) {
    if (event === "tool_call") {
      const { id, name, args, agent } = data as Pick<ToldCall, "id" | "name" | "args" | "agent">;
      const told = { id, name, args, ...(agent !== undefined && { agent }), taken_back: false, attempt, told_at: at };
      const again = calls.find((call) => isSame(call, told) && !call.ended && call.attempt < attempt);
      if (again) Object.assign(again, told);
      else calls.push({ ...told, ended: false, ended_at: 0 });
    } else if (event === "tool_result") {
      const { tool_call_id: id, agent, outcome, output, exit_code } = data as ResultData;
      const call = calls.find((one) => isSame(one, { id, agent }) && !one.ended);
      if (call) Object.assign(call, { ended: true, ended_at: at, result: { outcome, output, exit_code } });
    } else if (event === "status" && (data as { status?: string }).status === "resuming") {
      attempt += 1;
      const { discard_after = at } = data as { discard_after?: number };
      for (const call of calls) takeBack(call, discard_after);
    }
  }
  return calls.map(({ attempt: _, told_at: _told, ended_at: _ended, ...call }) => call);
}

function takeBack(call: Followed, after: number): void {
  call.taken_back ||= Math.max(call.told_at, call.ended_at) > after;
  call.ended &&= call.ended_at <= after;
}

function isSame(call: ToldCall, { id, agent }: { id: string; agent?: string | undefined }): boolean {
  return call.id === id && call.agent === agent;
}
