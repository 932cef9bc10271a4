import { type Decision, type DecisionType, type Interrupt, isJsonObject } from "@cognition/contract";
import { oneLine, spelledOut } from "../terminal/print.ts";
import type { Prompt } from "./prompt.ts";

/** One answer for each question; undefined where the input ended before that. */
export async function askDecisions(
  asked: readonly Interrupt[],
  prompt: Prompt,
  say: (text: string) => void,
): Promise<Decision[] | undefined> {
  const decisions: Decision[] = [];
  for (const interrupt of asked) {
    const decision = await askOne(interrupt, prompt, say);
    if (!decision) return undefined;
    decisions.push(decision);
  }
  return decisions;
}

async function askOne(
  interrupt: Interrupt,
  prompt: Prompt,
  say: (text: string) => void,
): Promise<Decision | undefined> {
  const { id, agent, tool_name, args, value, description, allowed_decisions: allowed } = interrupt;
  // All of it, however long: nobody can allow what he has not seen.
  const what = spelledOut(tool_name ? `${tool_name} ${JSON.stringify(args ?? {})}` : JSON.stringify(value ?? null));
  say(`  ${spelledOut(agent ?? "The agent")} ${allowed.includes("approve") ? "wants to" : "asks"}: ${what}`);
  if (description !== undefined) say(`  ${oneLine(description, 400)}`);
  for (;;) {
    const line = await prompt.askNow(`  ${questionFor(allowed)} `);
    if (line === undefined) return undefined;
    const decision = decisionOf(line.trim(), allowed);
    if (decision) return { id, ...decision };
    say(`  That can't be answered here: only ${allowed.join(" or ")} will do. Ctrl-C stops the run instead.`);
  }
}

function questionFor(allowed: readonly DecisionType[]): string {
  const mayReject = allowed.includes("reject");
  if (allowed.includes("approve")) return mayReject ? "allow? [y/N, or a reason against]" : "allow? [y]";
  if (allowed.includes("respond")) return "your answer:";
  if (!allowed.includes("edit")) return "a reason against:";
  return mayReject ? "other arguments as JSON, or a reason against:" : "other arguments as JSON:";
}

/** Undefined for what this question does not take: the server would refuse it, and the run wait on. */
function decisionOf(answer: string, allowed: readonly DecisionType[]): Omit<Decision, "id"> | undefined {
  const mayApprove = allowed.includes("approve");
  if (mayApprove && /^(y|yes)$/i.test(answer)) return { type: "approve" };
  if (!mayApprove && allowed.includes("respond")) return { type: "respond", value: answer };
  const args = mayApprove || !allowed.includes("edit") ? undefined : readObject(answer);
  if (args) return { type: "edit", args };
  if (!allowed.includes("reject")) return undefined;
  // A reason reaches the model, which can then try another way.
  return { type: "reject", ...(/^(n|no)?$/i.test(answer) ? {} : { message: answer }) };
}

function readObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined; // no JSON, so a reason
  }
}
