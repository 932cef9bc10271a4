import { mentionOf } from "../rest-of.ts";
import { readSkills } from "../skills.ts";
import { type Intent, say } from "../step.ts";
import { findDelegateTool } from "../subagents.ts";

const ASKS = /\b(?:what|which|list|name|show|tell|enumerate|how many|do you have|describe)\b/i;
const OWN = /\b(?:you|your|available|have|there|can|all)\b/i;
const ABOUT = /\b(?:what (?:does|is)|how (?:do|does)|describe|explain|tell me about)\b/i;
const HELP = /^\W*help(?:\s+me)?\W*$/i;

/** What the agent has: its tools, skills and subagents, as its prompt and its bound tools tell. */
export const inventoryAnswer: Intent = (instruction, turn) => {
  const asked = ASKS.test(instruction) && OWN.test(instruction);
  if (asked && /\bsub-?agents?\b|\bagents?\b.*\bdelegate\b/i.test(instruction)) {
    return say(named("subagents", findDelegateTool(turn)?.known ?? []));
  }
  if (asked && /\bskills?\b/i.test(instruction)) {
    const skills = readSkills(turn).map(({ name, description }) => (description ? `${name} (${description})` : name));
    return say(named("skills", skills));
  }
  const tool = ABOUT.test(instruction) ? turn.tools.find((each) => mentionOf(instruction, each)) : undefined;
  if (tool && /\btool\b|[_]/i.test(instruction)) return say(`${tool.name}: ${tool.description}`);
  if ((asked && /\b(?:tools?|functions?)\b|\bwhat can you do\b/i.test(instruction)) || HELP.test(instruction)) {
    return say(
      named(
        "tools",
        turn.tools.map(({ name }) => name),
      ),
    );
  }
  return undefined;
};

function named(what: string, names: readonly string[]): string {
  return names.length > 0 ? `My ${what}: ${names.join(", ")}.` : `I have no ${what} here.`;
}
