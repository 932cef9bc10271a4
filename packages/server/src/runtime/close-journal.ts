import type { Storage, ToolCallRecord } from "@cognition/thread";
import { ToolMessage } from "@langchain/core/messages";
import { messageIn, packResult, unpackResult } from "./journal-result.ts";
import { callName, type RunScope } from "./run-scope.ts";
import { reasonOf } from "./settle-thread.ts";
import { textOf } from "./text-of.ts";

const PAGE = 500;

/**
 * Before a run's early end: every call of it that has begun has an outcome, and the log tells it. A tool that stopped
 * was aborted, one that came to its end regardless has its result; of one that would not stop, or that an earlier
 * attempt was in without leaving anything to stop, nobody knows.
 */
export async function closeJournal(storage: Storage, scope: RunScope): Promise<ToolCallRecord[]> {
  scope.closed = true;
  await Promise.all(scope.beginning);
  const { work } = scope;
  const { thread_id, run_id } = work.claimed;
  const told = await toldResults(storage, scope);
  for (const call of await storage.listToolCalls(run_id)) {
    const { status, checkpoint_ns, tool_call_id } = call;
    if (status !== "started") {
      if (!told.has(tool_call_id)) tellRecorded(scope, call, status);
      continue;
    }
    const { outcome, output, result, about } = (await stopLeft(scope, call)) ?? endOf(scope, call);
    await storage.finishToolCall({ thread_id, checkpoint_ns, tool_call_id }, work.lease, { outcome, result });
    work.log.emit("tool_result", { ...about, tool_call_id, output, exit_code: null, outcome });
  }
  return storage.listToolCalls(run_id);
}

/** A command that an earlier attempt started, and that outlived its process: it is stopped now, for all to know. */
async function stopLeft({ begun, sandbox }: RunScope, call: ToolCallRecord) {
  const { name, idempotency_key } = call;
  if (begun.has(callName(call)) || !(await sandbox.knows(idempotency_key))) return undefined;
  await sandbox.stop(idempotency_key);
  return { outcome: "aborted" as const, output: reasonOf(name, "aborted"), result: null, about: {} };
}

function endOf({ begun, calls }: RunScope, call: ToolCallRecord) {
  const { name, tool_call_id } = call;
  const known = begun.get(callName(call));
  const about = known?.about ?? {};
  if (!known || known.opaque || calls.has(callName(call))) {
    return { outcome: "unknown" as const, output: reasonOf(name, "unknown"), result: null, about };
  }
  if (known.late === undefined) {
    return { outcome: "aborted" as const, output: reasonOf(name, "aborted"), result: null, about };
  }
  const message = new ToolMessage({ tool_call_id, name, content: known.late });
  return { outcome: "ok" as const, output: known.late, result: packResult(message, known.exit_code), about };
}

/** The result was recorded, and the process ended before the log had it. */
function tellRecorded({ work }: RunScope, { name, tool_call_id, result }: ToolCallRecord, outcome: string): void {
  const recorded = result ? unpackResult(result) : undefined;
  // One that was closed here, by an attempt that was killed before it told, has only its reason.
  const output = recorded
    ? textOf(messageIn(recorded.result)?.content)
    : reasonOf(name, outcome === "aborted" ? "aborted" : "unknown");
  work.log.emit("tool_result", { tool_call_id, output, exit_code: recorded?.exit_code ?? null, outcome });
}

async function toldResults(storage: Storage, { work }: RunScope): Promise<ReadonlySet<string>> {
  await work.log.flush();
  const { claimed } = work;
  const told = new Set<string>();
  for (let after = 0; ; ) {
    const query = {
      session_id: claimed.session.id,
      run_id: claimed.run_id,
      types: ["tool_result"] as const,
      after,
      limit: PAGE,
    };
    const { events, has_more } = await storage.readEvents(query);
    for (const { id, data } of events) {
      told.add((data as { tool_call_id: string }).tool_call_id);
      after = id;
    }
    if (!has_more) return told;
  }
}
