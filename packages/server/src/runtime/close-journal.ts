import { isAppError, type ToolOutcome } from "@cognition/contract";
import type { Storage, ToldCall, ToldResult, ToolCallRecord } from "@cognition/thread";
import { ToolMessage } from "@langchain/core/messages";
import { isOwnCall } from "../run/own-call.ts";
import { DELEGATION, readToldCalls } from "./earlier-calls.ts";
import { messageIn, packResult, unpackResult } from "./journal-result.ts";
import { callName, type RunScope } from "./run-scope.ts";
import { reasonOf } from "./settle-thread.ts";
import { textOf } from "./text-of.ts";

/** What is needed of a run's scope. Whose agent can't be opened any more has no sandbox either. */
export type Closing = Pick<RunScope, "work" | "begun" | "beginning" | "calls" | "unfollowed" | "earlier" | "closed"> &
  Partial<Pick<RunScope, "sandbox">>;

/**
 * Before a run's early end: every call of it that has begun has an outcome, and the log tells that of every call that it
 * tells. A tool that stopped was aborted, one that came to its end regardless has its result; of one that would not stop, or
 * that an earlier attempt was in without leaving anything to stop, nobody knows.
 */
export async function closeJournal(storage: Storage, scope: Closing, isUsers = false): Promise<ToolCallRecord[]> {
  scope.closed = true;
  await Promise.all(scope.beginning);
  const { run_id } = scope.work.claimed;
  scope.earlier = { open: [], taken_back: [] }; // from here on it is told here
  const told = await readToldCalls(storage, scope.work);
  for (const call of await storage.listToolCalls(run_id)) {
    const known = takeCall(told, call);
    if (known.ended) continue;
    tellEnd(scope, known, call.status === "started" ? await close(storage, scope, call) : recordedEnd(call));
  }
  for (const call of told) if (!call.ended) tellEnd(scope, call, unrecordedEnd(scope, call, isUsers));
  return storage.listToolCalls(run_id);
}

/** Takes that of a record out of the list. A user's graph has no subagents. */
function takeCall(told: ToldCall[], record: ToolCallRecord): ToldCall {
  const { status, tool_call_id: id, name, args } = record;
  const isOwn = isOwnCall(record);
  const same = told.filter((call) => call.id === id && (!call.ended || status !== "started"));
  const known = same.find(({ agent }) => (agent === undefined) === isOwn) ?? same[0];
  if (!known) return { id, name, args: args as ToldCall["args"], ended: false, taken_back: true };
  told.splice(told.indexOf(known), 1);
  return known;
}

function tellEnd({ work }: Closing, { id, name, args, agent, taken_back }: ToldCall, end: ToldResult): void {
  const about = agent === undefined ? {} : { agent };
  if (taken_back) work.log.emit("tool_call", { ...about, id, name, args });
  work.log.emit("tool_result", { ...about, tool_call_id: id, ...end });
}

async function close(storage: Storage, scope: Closing, call: ToolCallRecord): Promise<ToldResult> {
  const { checkpoint_ns, tool_call_id } = call;
  const { lease, claimed } = scope.work;
  const { result, ...end } = (await stopLeft(scope, call)) ?? endOf(scope, call);
  const key = { thread_id: claimed.thread_id, checkpoint_ns, tool_call_id };
  try {
    await storage.finishToolCall(key, lease, { outcome: end.outcome, result });
    return end;
  } catch (error) {
    if (!isAppError(error, "tool_call_ended")) throw error;
    const calls = await storage.listToolCalls(claimed.run_id);
    return recordedEnd(calls.find((one) => callName(one) === callName(call)) ?? call); // it has ended at this moment
  }
}

/** A command that an earlier attempt started, and that outlived its process: it is stopped now, for all to know. */
async function stopLeft({ begun, sandbox }: Closing, call: ToolCallRecord) {
  const { name, idempotency_key } = call;
  if (begun.has(callName(call)) || !(await sandbox?.knows(idempotency_key))) return undefined;
  await sandbox?.stop(idempotency_key);
  return { ...withoutResult(name, "aborted"), result: null };
}

function endOf({ begun, calls }: Closing, call: ToolCallRecord): ToldResult & { result: unknown } {
  const { name, tool_call_id } = call;
  const known = begun.get(callName(call));
  if (!known || known.opaque || calls.has(callName(call))) return { ...withoutResult(name, "unknown"), result: null };
  if (known.late === undefined) return { ...withoutResult(name, "aborted"), result: null };
  const { late: output, exit_code } = known;
  const message = new ToolMessage({ tool_call_id, name, content: output });
  return { outcome: "ok", output, exit_code, result: packResult(message, exit_code) };
}

function withoutResult(name: string, outcome: "aborted" | "unknown"): ToldResult {
  return { outcome, output: reasonOf(name, outcome), exit_code: null };
}

/** The result was recorded, and the process ended before the log had it. */
function recordedEnd({ name, result, status }: ToolCallRecord): ToldResult {
  const outcome = status as ToolOutcome;
  // One that was closed here, by an attempt that was killed before it told, has only its reason.
  if (!result) return { ...withoutResult(name, outcome === "aborted" ? "aborted" : "unknown"), outcome };
  const recorded = unpackResult(result);
  return { outcome, output: textOf(messageIn(recorded.result)?.content), exit_code: recorded.exit_code };
}

/** It was stopped before it could begin, unless it is one that nobody records: a delegation, or a tool that a user's graph calls itself. */
function unrecordedEnd({ unfollowed }: Closing, call: ToldCall, isUsers: boolean): ToldResult {
  const { id, name, taken_back, result } = call;
  if (result) return result;
  const isUnderWay = [...unfollowed.values()].some((one) => one.id === id);
  if (isUnderWay || (isUsers && taken_back)) return withoutResult(name, "unknown");
  const output = reasonOf(name, name === DELEGATION ? "delegated" : "never");
  return { outcome: "aborted", output, exit_code: null };
}
