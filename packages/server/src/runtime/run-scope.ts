import { AsyncLocalStorage } from "node:async_hooks";
import { AppError, type PlanItem } from "@cognition/contract";
import type { RunWork } from "../run/executor.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import type { UsageMeter } from "./usage-meter.ts";

/** What belongs to the run that the code at hand works for. Graphs are built once and serve many runs. */
export interface RunScope {
  work: RunWork;
  sandbox: Sandbox;
  usage: UsageMeter;
  /** The agent's plan as it was told last. */
  plan: readonly PlanItem[];
  /** Tool calls that this attempt has begun. What an earlier one left begun, nobody knows the end of. */
  begun: Set<string>;
  /** Those of them that are under way, until their own promise has settled. */
  calls: Map<string, Promise<unknown>>;
}

/** One tool call: what the sandbox and our own tools tell about it while it runs. */
export interface CallScope {
  tool_call_id: string;
  idempotency_key: string;
  agent_name: string;
  exit_code: number | null;
}

export function callName({ checkpoint_ns, tool_call_id }: { checkpoint_ns: string; tool_call_id: string }): string {
  return `${checkpoint_ns} ${tool_call_id}`;
}

const runs = new AsyncLocalStorage<RunScope>();
const calls = new AsyncLocalStorage<CallScope>();

export function inRun<T>(scope: RunScope, work: () => Promise<T>): Promise<T> {
  return runs.run(scope, work);
}

export function inCall<T>(scope: CallScope, work: () => Promise<T>): Promise<T> {
  return calls.run(scope, work);
}

export function currentRun(): RunScope {
  const scope = runs.getStore();
  if (!scope) throw new AppError("internal", "This only works inside of a run");
  return scope;
}

export function currentCall(): CallScope | undefined {
  return calls.getStore();
}
