import type { Decision, Interrupt } from "@cognition/contract";
import { oneLine } from "../terminal/print.ts";
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
  const { id, tool_name, args, value, allowed_decisions: allowed } = interrupt;
  const mayApprove = allowed.includes("approve");
  const what = tool_name
    ? `${tool_name} ${oneLine(JSON.stringify(args ?? {}), 400)}`
    : oneLine(JSON.stringify(value), 400);
  say(mayApprove ? `  The agent wants to: ${what}` : `  The agent asks: ${what}`);
  const line = await prompt.askNow(mayApprove ? "  allow? [y/N, or a reason against] " : "  your answer: ");
  if (line === undefined) return undefined;
  const answer = line.trim();
  if (!mayApprove) return { id, type: "respond", value: answer };
  if (/^(y|yes)$/i.test(answer)) return { id, type: "approve" };
  // A reason reaches the model, which can then try another way.
  return { id, type: "reject", ...(/^(n|no)?$/i.test(answer) ? {} : { message: answer }) };
}
