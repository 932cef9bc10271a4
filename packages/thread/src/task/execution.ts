import type { Message, TaskExecution } from "@cognition/contract";
import { copyJson } from "./copy-json.ts";

const MAX_ITERATIONS = 10;

/** Fresh each time a task is started or taken up again; nothing of it is ever stored. */
export function newExecution(history: readonly Message[]): TaskExecution {
  return {
    iteration: 0,
    max_iterations: MAX_ITERATIONS,
    mode: "adapt",
    stop_reason: null,
    // A copy: what a runtime does to its messages must not reach the conversation.
    messages: history.map(copyJson),
    response: null,
    pending_calls: [],
    completed_calls: [],
    iterations_without_tools: 0,
  };
}
