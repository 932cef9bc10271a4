import { AppError, type Decision, type Run } from "@cognition/contract";
import { type BaseMessage, HumanMessage, type ToolMessage } from "@langchain/core/messages";
import { Command } from "@langchain/langgraph";
import type { RunInput } from "../run/run-input.ts";
import type { CustomGraph } from "./custom-graph.ts";
import { isApprovalRequest } from "./decide-call.ts";
import type { OpenQuestion } from "./open-questions.ts";
import type { OpenedAgent } from "./opened-agent.ts";
import type { GraphState } from "./run-graph.ts";

type MessageInput = Extract<RunInput, { kind: "message" }>;

export function userMessage({ message_id, content }: MessageInput): HumanMessage {
  return new HumanMessage({ id: message_id, content: content as string });
}

/** What the graph is given: news only once. After a crash its checkpoint holds them, and it goes on by itself. */
export function graphInput(
  input: RunInput,
  run: Pick<Run, "id" | "checkpoint_id">,
  state: GraphState,
  questions: readonly OpenQuestion[],
  { custom, initial, left = [] }: Pick<OpenedAgent, "custom" | "initial"> & { left?: readonly ToolMessage[] },
): unknown {
  if (input.kind === "continue") return null;
  if (input.kind === "answers") return resumption(input.answers, questions);
  const { values, metadata } = state;
  if (metadata?.run_id === run.id || values.messages?.some(({ id }) => id === input.message_id)) return null;
  if (custom) return customInput(input, custom, left);
  return { ...(run.checkpoint_id === null && initial), ...input.input, messages: [userMessage(input)] };
}

/** Null where nothing waits: a stop that the graph itself set goes on, and an answer that was used already is not used again. */
function resumption(answers: Readonly<Record<string, Decision>>, questions: readonly OpenQuestion[]): Command | null {
  const resume = questions.flatMap(({ id, interrupt_id, value }) => {
    const decision = answers[id];
    if (!decision || interrupt_id === undefined) return [];
    return [[interrupt_id, isApprovalRequest(value) ? decision : answerOf(decision)]];
  });
  return resume.length > 0 ? new Command({ resume: Object.fromEntries(resume) }) : null;
}

/** What `interrupt()` gives to a user's own node: the bare value, as LangGraph would give it. */
function answerOf({ value, message }: Decision): unknown {
  return value === undefined ? message : value;
}

function customInput(
  input: MessageInput,
  { name, inputs, hasMessages }: CustomGraph,
  left: readonly ToolMessage[],
): unknown {
  if (!inputs) return input.input ?? input.content;
  if (hasMessages) {
    const { messages = [] } = (input.input ?? {}) as { messages?: BaseMessage[] };
    const given = Array.isArray(messages) ? messages : [messages];
    return { ...input.input, messages: [...left, ...given, userMessage(input)] };
  }
  if (input.input) return input.input;
  const message = `The graph ${name} has no channel for messages, so the text alone tells it nothing; nothing was run. Give its input as "input", with ${inputs.join(", ")}.`;
  throw new AppError("validation_failed", message, { details: { graph: name, inputs } });
}

/** What its caller wants a graph to know besides its input. A run that goes on has it from its checkpoint. */
export function graphContext(input: RunInput, { metadata }: GraphState): Record<string, unknown> | undefined {
  const context = input.kind === "message" ? input.context : metadata?.context;
  return context as Record<string, unknown> | undefined;
}

/** Keys by which LangGraph finds threads and checkpoints: a caller who could set them would read what is not his. */
const INTERNAL = /^(__|checkpoint_|thread_id$|run_id$|ls_|lc_)/;

/** Older graphs look for it in `configurable`. */
export function configurableOf(context: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return Object.fromEntries(Object.entries(context).filter(([key]) => !INTERNAL.test(key)));
}
