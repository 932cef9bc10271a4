import type { RunContext } from "../tool/tool.ts";
import { currentCall, currentRun } from "./run-scope.ts";

/** What the code at hand may know of the run it works for. `internal` outside of a run. */
export function runContext(agent_name?: string): RunContext {
  const { work, sandbox, root_agent } = currentRun();
  return {
    session_id: work.claimed.session.id,
    thread_id: work.claimed.thread_id,
    run_id: work.claimed.run_id,
    agent_name: agent_name ?? currentCall()?.agent_name ?? root_agent,
    scope: work.claimed.session.scopes,
    signal: work.signal,
    workspace: sandbox.root,
  };
}
