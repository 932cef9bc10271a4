import { setImmediate as nextTurn } from "node:timers/promises";
import type { ClaimedRun } from "../../../src/run-store.ts";
import type { ToolCallIntent } from "../../../src/tool-journal.ts";
import type { RunLog } from "./run-log.ts";
import type { Work } from "./work.ts";

export interface ToolCall {
  claimed: ClaimedRun;
  log: RunLog;
  ns: string;
  tool_call_id: string;
  on_crash: ToolCallIntent["on_crash"];
}

/** A tool with an effect outside of the storage: a line in the ledger, which a crash does not undo. */
export async function callTool({ storage, ledger }: Work, call: ToolCall): Promise<string> {
  const { claimed, log, ns, tool_call_id, on_crash } = call;
  const key = { thread_id: claimed.thread_id, checkpoint_ns: ns, tool_call_id };
  const begun = await storage.beginToolCall({ ...key, lease: claimed, name: "note", args: { on_crash }, on_crash });
  if (begun.state === "finished") return String(begun.result);
  if (begun.state === "unknown") return "nobody knows";
  const { run_id } = claimed;
  ledger.write({ t: "begun", run_id, tool_call_id, ns });
  log.note("tool_call", { id: tool_call_id, name: "note", args: { on_crash } });
  await nextTurn();
  ledger.write({ t: "effect", idempotency_key: begun.idempotency_key, on_crash });
  await nextTurn();
  const result = `noted in attempt ${begun.attempt}`;
  await storage.finishToolCall(key, claimed, { outcome: "ok", result });
  ledger.write({ t: "tool_end", run_id, tool_call_id, ns, result });
  return result;
}
