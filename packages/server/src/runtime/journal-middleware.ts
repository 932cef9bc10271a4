import { ToolMessage } from "@langchain/core/messages";
import type { ToolCall } from "@langchain/core/messages/tool";
import { createMiddleware } from "langchain";
import type { ApprovalRule } from "../agent/agent-definition.ts";
import type { OnCrash } from "../tool/tool.ts";
import { decideCall } from "./decide-call.ts";
import { type Caller, DELEGATION, tellCall, tellResult } from "./journal-events.ts";
import { journaledCall } from "./journaled-call.ts";
import { currentRun, type RunScope } from "./run-scope.ts";
import type { ToolRefusal } from "./tool-gate.ts";

export interface JournalOptions extends Caller {
  onCrash: (tool: string) => OnCrash;
  /** Whether it may change files. */
  writes: (tool: string) => boolean;
  approvals: Readonly<Record<string, ApprovalRule>>;
  refusal: ToolRefusal;
}

type Runtime = { configurable?: Record<string, unknown> };

/**
 * Around every tool call of every agent: ask a human if the agent says so, record the intent, run the tool, record the
 * result, tell the log. After a crash a recorded result is used and an intent without one is faced as what it is.
 */
export function createJournalMiddleware(options: JournalOptions) {
  return createMiddleware({
    name: "journal",
    wrapToolCall: async (request, handler) => {
      const scope = currentRun();
      const decided = decide(options, request.toolCall);
      if (ToolMessage.isInstance(decided)) return tellDenied(options, scope, request.toolCall, decided);
      const run = () => Promise.resolve(handler({ ...request, toolCall: decided }));
      tellCall(options, scope, decided);
      // It resumes from its own checkpoint, and its own tools are in the journal: recorded twice, it could never resume.
      if (decided.name === DELEGATION) return run();
      const { configurable = {} } = request.runtime as Runtime;
      const checkpoint_ns = String(configurable["checkpoint_ns"] ?? "");
      const on_crash = options.onCrash(decided.name);
      const writes = options.writes(decided.name);
      return journaledCall(scope, { caller: options, call: decided, checkpoint_ns, on_crash, writes, run });
    },
  });
}

/** The call as it may run, or the message that stands for its result. */
function decide({ refusal, approvals }: JournalOptions, call: ToolCall): ToolCall | ToolMessage {
  const reason = refusal(call.name);
  if (reason !== undefined) {
    return new ToolMessage({ tool_call_id: call.id ?? "", name: call.name, status: "error", content: reason });
  }
  const rule = approvals[call.name];
  return rule ? decideCall(call, rule) : call;
}

function tellDenied(options: JournalOptions, scope: RunScope, call: ToolCall, message: ToolMessage): ToolMessage {
  const outcome = message.status === "error" ? "denied" : "ok";
  tellCall(options, scope, call);
  tellResult(options, scope, call, { result: message, outcome, exit_code: null });
  return message;
}
