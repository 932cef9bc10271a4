import { hasFailed, type PlanItem, planIn, type ToolResult } from "./turn.ts";

const UNKNOWN = /outcome[_ ]unknown|outcome is (?:not known|unknown)|not known whether/i;
const MAX_OUTPUT = 4_000;

/** What came of the tools, told as they told it: an error stays an error, and what nobody knows is not made up. */
export function reportResults(results: readonly ToolResult[]): string[] {
  const told = results.filter((result, at) => !isPlan(result) || at === results.length - 1);
  return told.map((result) => report(result));
}

function report(result: ToolResult): string {
  const output = shorten(result.output.trim());
  const call = describeCall(result);
  if (UNKNOWN.test(output)) return `It is not known whether ${call} took effect: ${output}`;
  if (hasFailed(result)) return `${call} failed: ${output || "it gave no reason"}`;
  if (isPlan(result)) return planReport(result);
  if (output === "") return `${call} ran and returned nothing.`;
  return `${call} returned:\n${output}`;
}

function describeCall({ tool, args }: ToolResult): string {
  const shown = Object.values(args).filter(
    (value) => typeof value === "string" && value !== "" && !value.includes("\n"),
  );
  const first = shown[0] as string | undefined;
  return first === undefined || first.length > 120 ? tool : `${tool} (${first})`;
}

function isPlan(result: ToolResult): boolean {
  return planIn(result.args) !== undefined;
}

function planReport(result: ToolResult): string {
  const items = planIn(result.args) ?? [];
  const done = items.filter(({ status }) => status === "completed").length;
  return `${done === items.length ? "All steps of the todo list are done" : `The todo list is written, ${done} of ${items.length} done`}:\n${listPlan(items)}`;
}

export function listPlan(items: readonly PlanItem[]): string {
  return items.map(({ content, status }) => `${status === "completed" ? "[x]" : "[ ]"} ${content}`).join("\n");
}

function shorten(text: string): string {
  return text.length > MAX_OUTPUT
    ? `${text.slice(0, MAX_OUTPUT).toWellFormed()}\n… (${text.length} characters in all)`
    : text;
}
