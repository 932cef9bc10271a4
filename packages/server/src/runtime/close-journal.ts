import type { Storage, ToolCallRecord } from "@cognition/thread";
import { messageIn, unpackResult } from "./journal-result.ts";
import { callName, type RunScope } from "./run-scope.ts";
import { reasonOf } from "./settle-thread.ts";
import { textOf } from "./text-of.ts";

const PAGE = 500;

/**
 * Before a run's early end: every call of it that has begun has an outcome, and the log tells it. A tool that stopped
 * was aborted; of one that would not, or that an earlier attempt was in, nobody knows.
 */
export async function closeJournal(storage: Storage, scope: RunScope): Promise<ToolCallRecord[]> {
  const { work, calls, begun } = scope;
  const { thread_id, run_id } = work.claimed;
  const told = await toldResults(storage, scope);
  for (const call of await storage.listToolCalls(run_id)) {
    const { status, name, checkpoint_ns, tool_call_id } = call;
    if (status !== "started") {
      if (!told.has(tool_call_id)) tellRecorded(scope, call, status);
      continue;
    }
    const hasStopped = begun.has(callName(call)) && !calls.has(callName(call));
    const outcome = hasStopped ? "aborted" : "unknown";
    await storage.finishToolCall({ thread_id, checkpoint_ns, tool_call_id }, work.lease, { outcome, result: null });
    work.log.emit("tool_result", { tool_call_id, output: reasonOf(name, outcome), exit_code: null, outcome });
  }
  return storage.listToolCalls(run_id);
}

/** The result was recorded, and the process ended before the log had it. */
function tellRecorded({ work }: RunScope, { tool_call_id, result }: ToolCallRecord, outcome: string): void {
  const recorded = result ? unpackResult(result) : undefined;
  const output = textOf(recorded && messageIn(recorded.result)?.content);
  work.log.emit("tool_result", { tool_call_id, output, exit_code: recorded?.exit_code ?? null, outcome });
}

async function toldResults(storage: Storage, { work }: RunScope): Promise<ReadonlySet<string>> {
  await work.log.flush();
  const { session, claimed } = work;
  const told = new Set<string>();
  for (let after = 0; ; ) {
    const query = {
      session_id: session.id,
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
