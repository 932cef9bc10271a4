import { AIMessage, type BaseMessage, HumanMessage, SystemMessage, ToolMessage } from "@langchain/core/messages";
import type { OfflineTool } from "./offline-tool.ts";

export interface ToolResult {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly output: string;
  readonly failed: boolean;
}

/** Some tools tell of an error in an ordinary answer. */
export function hasFailed({ failed, output }: ToolResult): boolean {
  return failed || /^\s*error\b/i.test(output);
}

export interface PlanItem {
  readonly content: string;
  readonly status: string;
}

/** The items of a todo list among a call's arguments, whatever its tool calls them. */
export function planIn(args: Readonly<Record<string, unknown>>): readonly PlanItem[] | undefined {
  const list = Object.values(args).find(
    (value): value is PlanItem[] => Array.isArray(value) && value.every((item) => typeof item?.status === "string"),
  );
  return list?.length ? list : undefined;
}

/** Everything a reply depends on. The same turn gives the same reply. */
export interface Turn {
  readonly system: string;
  /** What the user asks for now. */
  readonly request: string;
  /** What the user said before, oldest first. */
  readonly earlier: readonly string[];
  /** What came of the tool calls made for this request, in their order. */
  readonly results: readonly ToolResult[];
  /** The todo list as an earlier request left it. */
  readonly plan: readonly PlanItem[];
  readonly tools: readonly OfflineTool[];
  /** How many messages there are: makes the ids of tool calls differ within a thread. */
  readonly position: number;
}

export function readTurn(messages: readonly BaseMessage[], tools: readonly OfflineTool[]): Turn {
  const last = messages.findLastIndex((message) => HumanMessage.isInstance(message));
  const said = messages.filter((message) => HumanMessage.isInstance(message)).map(textOf);
  return {
    system: messages
      .filter((message) => SystemMessage.isInstance(message))
      .map(textOf)
      .join("\n"),
    request: said.at(-1) ?? "",
    earlier: said.slice(0, -1),
    results: readResults(messages.slice(last + 1)).filter((result) => !isApprovedPlan(result, tools)),
    plan:
      readResults(messages.slice(0, Math.max(last, 0)))
        .flatMap(({ args }) => [planIn(args)].filter((plan) => plan !== undefined))
        .at(-1) ?? [],
    tools,
    position: messages.length,
  };
}

/** The tool is gone once the plan is approved; the plan was a step towards the work, not one of it. */
function isApprovedPlan({ tool, failed }: ToolResult, tools: readonly OfflineTool[]): boolean {
  return !failed && /plan/i.test(tool) && !tools.some(({ name }) => name === tool);
}

// `message.text` joins blocks without a break, so that the last sentence of one would run into the first of the next.
function textOf({ content }: BaseMessage): string {
  if (typeof content === "string") return content;
  return content
    .flatMap((block) => (block.type === "text" && typeof block["text"] === "string" ? [block["text"]] : []))
    .join("\n");
}

function readResults(messages: readonly BaseMessage[]): ToolResult[] {
  const calls = messages
    .filter((message) => AIMessage.isInstance(message))
    .flatMap(({ tool_calls }) => tool_calls ?? []);
  return messages
    .filter((message) => ToolMessage.isInstance(message))
    .map((message) => {
      const call = calls.find(({ id }) => id === message.tool_call_id);
      return {
        tool: call?.name ?? message.name ?? "tool",
        args: call?.args ?? {},
        output: textOf(message),
        failed: message.status === "error",
      };
    });
}
