import type { ToolOutcome } from "@cognition/contract";
import type { ToolMessage } from "@langchain/core/messages";
import type { ToolCall } from "@langchain/core/messages/tool";
import type { Command } from "@langchain/langgraph";
import { DELEGATION, delegationOf, takeEarlier } from "./earlier-calls.ts";
import { messageIn } from "./journal-result.ts";
import type { RunScope } from "./run-scope.ts";
import { textOf } from "./text-of.ts";

/** Whose calls are told. */
export interface Caller {
  agent_name: string;
  /** True for the session's own agent: the events of the others carry their name. */
  isRoot: boolean;
}

export interface Told {
  result: ToolMessage | Command;
  outcome: ToolOutcome;
  exit_code: number | null;
}

export function about({ agent_name, isRoot }: Caller): { agent?: string } {
  return isRoot ? {} : { agent: agent_name };
}

/** A call that was made, whether or not it may run. False for one that goes on, as after a question in its middle. */
export function tellAttempt(caller: Caller, scope: RunScope, { id = "", name, args }: ToolCall): boolean {
  const isNew = !takeEarlier(scope, id, about(caller));
  if (isNew) scope.work.log.emit("tool_call", { ...about(caller), id, name, args });
  return isNew;
}

export function tellCall(caller: Caller, scope: RunScope, call: ToolCall): void {
  const { name, args } = call;
  const { work } = scope;
  const isNew = tellAttempt(caller, scope, call);
  if (isNew && name === DELEGATION) work.log.emit("delegation", { ...about(caller), ...delegationOf(args) });
}

/** Once the run's journal is being closed, whoever closes it tells what became of each call. */
export function tellResult(caller: Caller, { work, closed }: RunScope, call: ToolCall, told: Told): void {
  if (closed) return;
  const { result, outcome, exit_code } = told;
  const output = textOf(messageIn(result)?.content);
  work.log.emit("tool_result", { ...about(caller), tool_call_id: call.id ?? "", output, exit_code, outcome });
}
