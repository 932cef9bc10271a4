import type { Decision, DecisionType, Interrupt } from "@cognition/contract";
import { ToolMessage } from "@langchain/core/messages";
import type { ToolCall } from "@langchain/core/messages/tool";
import { interrupt } from "@langchain/langgraph";
import type { ApprovalRule } from "../agent/agent-definition.ts";
import { about, type Caller } from "./journal-events.ts";
import { RESPONSE_TOOL } from "./response-tool.ts";

/** What our own interrupts carry, so that they can be told from those of a user's graph. */
interface ApprovalRequest {
  kind: "tool_approval";
  agent?: string;
  tool_call_id: string;
  tool_name: string;
  args: Record<string, unknown>;
  allowed_decisions: readonly DecisionType[];
  description?: string;
}

/** By its whole form: a user's graph may call the kind of its questions the same. */
export function isApprovalRequest(value: unknown): value is ApprovalRequest {
  if (typeof value !== "object" || value === null) return false;
  const { kind, tool_call_id, tool_name, allowed_decisions } = value as Partial<ApprovalRequest>;
  return kind === "tool_approval" && [tool_call_id, tool_name].every(isText) && Array.isArray(allowed_decisions);
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

export function toInterrupt(id: string, value: unknown): Interrupt {
  if (!isApprovalRequest(value)) return { id, value, allowed_decisions: ["respond"] };
  const { agent, tool_call_id, tool_name, args, allowed_decisions, description } = value;
  const who = isText(agent) ? { agent } : {};
  const asked = { id, ...who, tool_call_id, tool_name, args, allowed_decisions: [...allowed_decisions] };
  return description === undefined ? asked : { ...asked, description };
}

/**
 * Asks a human, before anything is recorded of the call: until the answer comes, the call has not begun. Gives the call as
 * it was approved, or the message that stands for its result. (LangChain's own middleware asks for a whole AI
 * message at a time, drops approved calls when one is rejected, and has no `respond`.)
 */
export function decideCall(caller: Caller, call: ToolCall, rule: ApprovalRule): ToolCall | ToolMessage {
  const request: ApprovalRequest = {
    kind: "tool_approval",
    ...about(caller),
    tool_call_id: call.id ?? "",
    tool_name: call.name,
    args: call.args,
    allowed_decisions: rule.allowed_decisions,
    ...(rule.description !== undefined && { description: rule.description }),
  };
  const decision = interrupt<ApprovalRequest, Decision>(request);
  switch (decision.type) {
    case "approve":
      return call;
    case "edit":
      return { ...call, args: decision.args ?? call.args };
    case "respond":
      // What is said about an answer in the agent's form is not that answer: the agent gives another one.
      return answer(
        call,
        call.name === RESPONSE_TOOL ? "error" : "success",
        decision.message ?? JSON.stringify(decision.value),
      );
    case "reject":
      return answer(
        call,
        "error",
        decision.message ?? rule.rejected ?? `The user did not allow ${call.name}. Do not try it again unasked.`,
      );
  }
}

function answer({ id = "", name }: ToolCall, status: "success" | "error", content: string): ToolMessage {
  return new ToolMessage({ tool_call_id: id, name, content, status });
}
