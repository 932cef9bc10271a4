import { z } from "zod";
import { Interrupt } from "./approval.ts";
import { ErrorCode } from "./error.ts";
import { JsonObject } from "./json.ts";
import { Message, StopReason } from "./message.ts";
import { RunOutcome } from "./run.ts";
import { TokenUsage } from "./token-usage.ts";

/** In every payload: `message_id` where a message is in the making, `agent` where a subagent speaks. */
const about = {
  run_id: z.string().nullable(),
  message_id: z.string().optional(),
  agent: z.string().optional(),
};

export const EventId = z.int().positive();

// Retention folds a run's tokens into one event that keeps their last id. A client that already has some of them needs
// the first id to know that this text replaces what it has rather than follows it.
const Text = z.strictObject({ ...about, content: z.string(), folded_from: EventId.optional() });

export const PlanItem = z.strictObject({
  content: z.string(),
  status: z.enum(["pending", "in_progress", "completed"]),
});
export type PlanItem = z.infer<typeof PlanItem>;

/** `unknown`: the tool was started and nobody can tell whether its effect took place. */
export const ToolOutcome = z.enum(["ok", "error", "denied", "aborted", "unknown"]);
export type ToolOutcome = z.infer<typeof ToolOutcome>;

/** Payloads of the log. */
export const LOGGED_EVENT_DATA = {
  status: z.strictObject({
    ...about,
    status: z.enum(["queued", "thinking", "resuming", "idle"]),
    attempt: z.int().nonnegative().optional(),
    /** After a crash: the last event id still valid. What was said after it is void; what of it stands is told again. */
    discard_after: z.int().nonnegative().optional(),
  }),
  token: Text,
  reasoning: Text,
  planning: z.strictObject({ ...about, todos: z.array(z.string()), items: z.array(PlanItem) }),
  step_complete: z.strictObject({
    ...about,
    step_number: z.int().nonnegative(),
    total_steps: z.int().nonnegative(),
    description: z.string(),
  }),
  tool_call: z.strictObject({ ...about, id: z.string(), name: z.string(), args: JsonObject }),
  tool_output: z.strictObject({ ...about, tool_call_id: z.string(), content: z.string() }),
  tool_result: z.strictObject({
    ...about,
    tool_call_id: z.string(),
    output: z.string(),
    /** Null where nothing exited: not a command, or one whose end nobody saw. */
    exit_code: z.int().nullable(),
    outcome: ToolOutcome,
  }),
  delegation: z.strictObject({ ...about, target_agent: z.string(), task: z.string() }),
  interrupt: z.strictObject({ ...about, interrupts: z.array(Interrupt).min(1) }),
  checkpoint: z.strictObject({ ...about, checkpoint_id: z.string(), step: z.int() }),
  head_moved: z.strictObject({ ...about, head: z.string(), previous_head: z.string().nullable() }),
  /** An object that was written is spread here, under the fields of `about`; anything else is in `value`. */
  custom: z.looseObject(about),
  usage: TokenUsage.extend(about),
  error: z.strictObject({ ...about, message: z.string(), code: ErrorCode, recoverable: z.boolean() }),
  done: z.strictObject({
    ...about,
    status: RunOutcome,
    assistant_data: Message.nullable(),
    message_id: z.string().nullable(),
    /** Only where that answer is not whole. */
    stop_reason: StopReason.optional(),
    structured_response: z.unknown().optional(),
  }),
};

/** Payloads about one connection. They have no id, since the next client would not see them again. */
export const CONNECTION_EVENT_DATA = {
  reconnected: z.strictObject({
    last_event_id: z.int().nonnegative(),
    replayed: z.int().nonnegative(),
    /** The replay crosses a fold: text may repeat, see `folded_from`. */
    folded: z.boolean(),
  }),
  /** `Last-Event-ID` was beyond the log, which ends at `head`. */
  reset: z.strictObject({ head: z.int().nonnegative() }),
};
