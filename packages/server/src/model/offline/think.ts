import { createHash } from "node:crypto";
import { defaultAnswer } from "./answer/default-answer.ts";
import { fillObject } from "./fill-object.ts";
import { readNamedValues } from "./named-values.ts";
import { type OfflineTool, typeOf } from "./offline-tool.ts";
import { planSteps } from "./plan-steps.ts";
import { applyReplyRules } from "./reply-rules.ts";
import { reportResults } from "./report-results.ts";
import type { Step } from "./step.ts";
import { hasFailed, type Turn } from "./turn.ts";

interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** Either a tool to call next, or the final text. */
export type Thought =
  | { readonly type: "call"; readonly call: ToolCall }
  | { readonly type: "text"; readonly text: string };

/** `any`: some tool must be called (how agents ask for structured output); a name: that one; `none`: none. */
export type ToolRule = "auto" | "any" | "none" | { readonly name: string };

/** As much as a structured answer is looked for in: see MAX_REQUEST in plan-steps.ts. */
const MAX_SOURCE = 20_000;

export function think(turn: Turn, rule: ToolRule): Thought {
  const forced = typeof rule === "object" ? turn.tools.find(({ name }) => name === rule.name) : undefined;
  if (forced) {
    const plain = { ...turn, tools: turn.tools.filter((tool) => tool !== forced) };
    return callThought(turn, forced.name, structured(forced, turn, spoken(planSteps(plain), plain)));
  }
  const steps = planSteps(withoutOutput(turn, rule));
  const next = rule === "none" ? undefined : calls(steps)[turn.results.length];
  if (next) return callThought(turn, next.tool, next.args);
  const output = rule === "any" ? turn.tools.at(-1) : undefined;
  if (output) return callThought(turn, output.name, structured(output, turn, spoken(steps, turn)));
  return { type: "text", text: applyReplyRules(answer(steps, turn), turn) };
}

// The tool that takes the structured answer is bound last; it is not one to be used on the way there.
function withoutOutput(turn: Turn, rule: ToolRule): Turn {
  return rule === "any" ? { ...turn, tools: turn.tools.slice(0, -1) } : turn;
}

function answer(steps: readonly Step[], turn: Turn): string {
  return spoken(steps, turn) ?? defaultAnswer(turn);
}

function spoken(steps: readonly Step[], turn: Turn): string | undefined {
  const said = steps.flatMap((step) => (step.type === "say" ? [step.text] : []));
  const made = calls(steps);
  const told = turn.results.filter((_, at) => {
    const next = turn.results[at + 1];
    return !(made[at]?.isMadeGood && next && !hasFailed(next));
  });
  const parts = [...reportResults(told), ...said];
  return parts.length > 0 ? parts.join("\n\n") : undefined;
}

/** What would be said without a form, as a member of it. */
const ANSWER = /^(?:answer|reply|response|message|text|output|result)$/i;

function structured(tool: OfflineTool, turn: Turn, said: string | undefined): Record<string, unknown> {
  const told = (text: string) => text.slice(0, MAX_SOURCE).replace(/\s{200,}/g, " ");
  const text = told([turn.request, ...turn.results.map(({ output }) => output)].join("\n"));
  const name = Object.keys(tool.schema.properties ?? {}).find((key) => ANSWER.test(key));
  const isSaid = said !== undefined && name && typeOf(tool.schema.properties?.[name] ?? {}) === "string";
  const given = isSaid && !readNamedValues(turn.request, [name]).has(name) ? { [name]: said } : {};
  return fillObject(tool.schema, text, told(turn.request), turn, given);
}

function calls(steps: readonly Step[]): Extract<Step, { type: "call" }>[] {
  return steps.filter((step) => step.type === "call");
}

function callThought(turn: Turn, name: string, args: Readonly<Record<string, unknown>>): Thought {
  const seed = JSON.stringify([turn.position, turn.request, name, args]);
  const id = `call_${createHash("sha256").update(seed).digest("hex").slice(0, 24)}`;
  return { type: "call", call: { id, name, args } };
}
