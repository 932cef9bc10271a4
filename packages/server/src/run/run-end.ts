import {
  AppError,
  type ErrorCode,
  type EventData,
  isAppError,
  type Message,
  type Run,
  stopReasonOf,
  type TokenUsage,
} from "@cognition/contract";
import type { NewEvent, ProjectionRepair, RunEnd } from "@cognition/thread";
import { messageOf } from "../file/error-text.ts";
import type { RunLog } from "./run-log.ts";

export interface EndOf {
  status: RunEnd["status"];
  usage: TokenUsage | null;
  error?: Run["error"];
  structured_response?: unknown;
}

/** How a run leaves this node for good: at its end, with its last word, or to wait for a human. */
export type LeftAs = (EndOf & { assistant: Message | null }) | { status: "waiting"; usage: TokenUsage | null };

/** Errors after which sending the same message again may well succeed. */
const RECOVERABLE: ReadonlySet<ErrorCode> = new Set([
  "model_failed",
  "model_rate_limited",
  "model_timeout",
  "circuit_open",
  "storage_unavailable",
  "storage_busy",
  "budget_exceeded",
  "tool_failed",
]);

/** The last events of a run: why it failed, then idle, then the one `done`, which lacks only the run's last word. */
export function endEvents(log: RunLog, { status, error, structured_response }: EndOf): NewEvent[] {
  const cause = error
    ? [log.number("error", { message: error.message, code: error.code, recoverable: RECOVERABLE.has(error.code) })]
    : [];
  const done = {
    status,
    ...lastWordOf(null),
    ...(structured_response === undefined ? {} : { structured_response }),
  };
  return [...cause, log.number("status", { status: "idle" }), log.number("done", done)];
}

/** The part of `done` that is known once the messages are stored. */
export function lastWordOf(
  assistant: Message | null,
): Pick<EventData<"done">, "assistant_data" | "message_id" | "stop_reason"> {
  const stop_reason = assistant ? stopReasonOf(assistant) : undefined;
  return { assistant_data: assistant, message_id: assistant?.id ?? null, ...(stop_reason && { stop_reason }) };
}

/** What a person gets to read. An error that is not ours keeps its text; its stack stays in the server's own log. */
export function errorOf(error: unknown): NonNullable<Run["error"]> {
  if (isAppError(error)) return { code: error.code, message: error.message };
  const message = error instanceof AggregateError ? error.errors.map(messageOf).join("; ") : messageOf(error);
  if (error instanceof Error && error.name === "GraphRecursionError") {
    return { code: "recursion_limit", message: tooManySteps(message) };
  }
  return { code: "agent_failed", message: message || "The agent failed without saying why" };
}

/** The engine's own text names a setting that this server does not have. */
function tooManySteps(message: string): string {
  const [, limit] = /limit of (\d+)/.exec(message) ?? [];
  const steps = limit === undefined ? "all the steps that it may" : `${limit} steps, as many as it may,`;
  return `The run took ${steps} and was not done. What it did so far is kept: raise recursion_limit in the session's config and resume, or look whether it goes in circles.`;
}

/** For whoever looks after the server: nothing of it is the run's fault, and nothing said was lost. */
export function messagesDiffered(run_id: string, { session_id, outcome }: ProjectionRepair): AppError {
  const found = `At the end of run ${run_id} the messages of session ${session_id} were not those of its checkpoint`;
  if (outcome instanceof Error) {
    const advice = "the checkpoint is kept: once its cause is dealt with, `cognition doctor --repair` rebuilds them";
    return new AppError("corrupt_data", `${found}, and could not be rebuilt (${outcome.message}); ${advice}`, {
      cause: outcome,
    });
  }
  const { repaired, added, removed } = outcome;
  return new AppError(
    "corrupt_data",
    `${found}: something else writes to the database. They were rebuilt: ${repaired} set right, ${added} added, ${removed} removed`,
    { details: { session_id, repaired, added, removed } },
  );
}

export function tooManyAttempts(claimed: { run_id: string; stalled_attempts: number }): AppError {
  return new AppError(
    "too_many_attempts",
    `Run ${claimed.run_id} was cut off ${claimed.stalled_attempts} times without getting further, and is given up. ` +
      "What it had done before is kept; send the message again, or another one.",
  );
}
