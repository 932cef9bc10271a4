import { isAppError } from "@cognition/contract";
import type { ClaimedRun } from "@cognition/thread";
import { type Attributes, context, type Span, SpanKind, SpanStatusCode, type Tracer, trace } from "@opentelemetry/api";
import type { CallUsage } from "../model/usage.ts";
import type { ObserveRun } from "../run/run-observer.ts";
import { parseTraceparent } from "./traceparent.ts";
import type { StartRunSpan } from "./tracing.ts";

/** One span for each attempt at a run, with those of its model and tool calls below it, named as gen_ai conventions say. */
export function createRunSpans(startRun: StartRunSpan, tracer: Tracer): ObserveRun {
  return (claimed) => {
    const { run } = claimed;
    const root = startRun(`invoke_agent ${run.agent_name}`, run.trace_id, parentOf(claimed));
    root.setAttributes({
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.agent.name": run.agent_name,
      "gen_ai.conversation.id": claimed.session.id,
      "cognition.run.id": run.id,
      "cognition.run.attempt": run.attempt,
    });
    const below = trace.setSpan(context.active(), root);
    const open = new Map<string, Span>();
    const start = (id: string, name: string, kind: SpanKind, attributes: Attributes) =>
      open.set(id, tracer.startSpan(name, { kind, attributes }, below));
    const end = (id: string, fill: (span: Span) => void) => {
      const span = open.get(id);
      if (!span) return;
      open.delete(id);
      fill(span);
      span.end();
    };

    return {
      event: (event, data) => {
        if (event === "tool_call") startTool(start, data);
        else if (event === "tool_result") end(toolKey(data["tool_call_id"]), (span) => fillTool(span, data));
        else if (event === "error") fail(root, String(data["code"]), String(data["message"]));
        else if (event === "done") root.setAttribute("cognition.run.status", String(data["status"]));
      },
      modelStarted: (id, agent) =>
        void start(`model ${id}`, "chat", SpanKind.CLIENT, {
          "gen_ai.operation.name": "chat",
          ...(agent === undefined ? {} : { "gen_ai.agent.name": agent }),
        }),
      modelEnded: (id, { usage, error }) => end(`model ${id}`, (span) => fillModel(span, usage, error)),
      repaired: () => void root.setAttribute("cognition.run.messages_rebuilt", true),
      closed: () => {
        // What is still open was cut off: its end is in another attempt, or nowhere.
        for (const id of [...open.keys()]) end(id, (span) => fail(span, "interrupted", "The run left this node"));
        root.end();
      },
    };
  };
}

type Start = (id: string, name: string, kind: SpanKind, attributes: Attributes) => void;

function startTool(start: Start, { id, name }: Record<string, unknown>): void {
  start(toolKey(id), `execute_tool ${name}`, SpanKind.INTERNAL, {
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": String(name),
    "gen_ai.tool.call.id": String(id),
  });
}

function toolKey(id: unknown): string {
  return `tool ${id}`;
}

function fillTool(span: Span, { outcome, exit_code }: Record<string, unknown>): void {
  span.setAttribute("cognition.tool.outcome", String(outcome));
  if (typeof exit_code === "number") span.setAttribute("process.exit.code", exit_code);
  if (outcome !== "ok") fail(span, String(outcome), `The tool call ended as ${outcome}`);
}

function fillModel(span: Span, usage: CallUsage | undefined, error: unknown): void {
  if (usage) {
    span.updateName(`chat ${usage.model}`);
    span.setAttributes({
      "gen_ai.provider.name": usage.provider,
      "gen_ai.response.model": usage.model,
      "gen_ai.usage.input_tokens": usage.input_tokens,
      "gen_ai.usage.output_tokens": usage.output_tokens,
    });
  }
  if (error !== undefined) fail(span, isAppError(error) ? error.code : "error", "The model call failed");
}

function fail(span: Span, type: string, message: string): void {
  span.setAttribute("error.type", type);
  span.setStatus({ code: SpanStatusCode.ERROR, message });
}

/** The caller's own span, where its request named one and this is the run's first stretch. */
function parentOf({ input, run }: ClaimedRun): string | undefined {
  const { traceparent } = (input ?? {}) as { traceparent?: string };
  const parent = parseTraceparent(traceparent);
  return parent?.trace_id === run.trace_id ? parent?.span_id : undefined;
}
