import type { Checkpoint, CheckpointToolCall, ToolCall } from "@cognition/contract";
import type { TimelineEntry, TimelineMessage, ToolCallRecord } from "@cognition/thread";
import { isOwnCall } from "../run/own-call.ts";

const SUMMARY_LENGTH = 120;

/** A checkpoint as a person reads it. `calls` is what the journal knows of the run's tool calls. */
export function viewCheckpoint(session_id: string, entry: TimelineEntry, calls: readonly ToolCallRecord[]): Checkpoint {
  const {
    checkpoint_id: id,
    parent_id,
    run_id,
    step,
    source,
    created_at,
    next,
    message_count,
    snapshot_id,
    is_head,
  } = entry;
  return {
    ...{ id, parent_id, session_id, run_id, step, source, created_at, next, message_count, snapshot_id, is_head },
    summary: summaryOf(entry),
    tool_calls: toolCallsOf(entry, calls),
  };
}

function summaryOf({ last, source, message_count }: TimelineEntry): string {
  const message = last.at(-1);
  if (!message) return source === "input" || message_count === 0 ? "A new message" : "";
  return oneLine(message.role === "tool" ? toolSummary(last, message) : spoken(message));
}

function spoken({ role, content, tool_calls }: TimelineMessage): string {
  const calls = callsIn(tool_calls);
  if (calls.length > 0) return calls.map(({ name, args }) => `${name}(${argumentsOf(args)})`).join(", ");
  return role === "assistant" ? textIn(content) : `${role}: ${textIn(content)}`;
}

function toolSummary(last: readonly TimelineMessage[], { content, tool_call_id }: TimelineMessage): string {
  const call = last.flatMap(({ tool_calls }) => callsIn(tool_calls)).find(({ id }) => id === tool_call_id);
  return `${call?.name ?? "tool"}: ${textIn(content)}`;
}

function argumentsOf(args: Record<string, unknown>): string {
  return Object.values(args)
    .map((value) => (typeof value === "string" ? value : JSON.stringify(value)))
    .join(", ");
}

function callsIn(tool_calls: string): ToolCall[] {
  return JSON.parse(tool_calls) as ToolCall[];
}

function textIn(content: string): string {
  const value: unknown = JSON.parse(content);
  if (typeof value === "string") return value;
  if (!Array.isArray(value)) return "";
  return value.map((block: { text?: string; type?: string }) => block.text ?? `[${block.type ?? "block"}]`).join(" ");
}

function oneLine(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length > SUMMARY_LENGTH ? `${line.slice(0, SUMMARY_LENGTH - 1)}…` : line;
}

/** How the calls of the model's last word stood: by their results if there are any, else by the journal. */
function toolCallsOf({ last, waiting }: TimelineEntry, records: readonly ToolCallRecord[]): CheckpointToolCall[] {
  const results = new Map(last.flatMap((message) => (message.tool_call_id ? [[message.tool_call_id, message]] : [])));
  const recorded = new Map(records.filter(isOwnCall).map((record) => [record.tool_call_id, record.status]));
  return last
    .flatMap(({ tool_calls }) => callsIn(tool_calls))
    .map(({ id, name }) => ({ id, name, status: statusOf(results.get(id), recorded.get(id), waiting) }));
}

function statusOf(
  result: TimelineMessage | undefined,
  recorded: ToolCallRecord["status"] | undefined,
  waiting: boolean,
): CheckpointToolCall["status"] {
  if (result) return recorded && recorded !== "started" ? recorded : result.failed ? "error" : "ok";
  if (waiting) return "waiting";
  // Not yet at this checkpoint, whatever became of it later.
  return "pending";
}
