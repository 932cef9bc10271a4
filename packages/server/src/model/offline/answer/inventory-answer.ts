import { type OfflineTool, requiredNames, typeOf } from "../offline-tool.ts";
import { POLITE } from "../phrase.ts";
import { mentionOf } from "../rest-of.ts";
import { namedSkill, readSkills } from "../skills.ts";
import { type Intent, say } from "../step.ts";
import { findDelegateTool } from "../subagents.ts";
import type { Turn } from "../turn.ts";
import { listExamples } from "./examples.ts";

const ASKS = /\b(?:what|which|list|name|show|tell|enumerate|how many|do you have|describe)\b/i;
const OWN = /\b(?:you|your|available|have|there|can|all)\b/i;
/** "have a subagent list the files" */
const HAS_IT_DONE = new RegExp(`^\\s*${POLITE}(?:have|let|get|ask|use|start|launch|spawn)\\s`, "i");
const ABOUT = /\b(?:what (?:does|is)|how (?:do|does)|describe|explain|tell me about)\b/i;
const PARAMETERS = /\b(?:what|which)\b.*\b(?:arguments?|parameters?|args|inputs?|options?|fields?)\b/i;
/** "what does grep do?" */
const WHAT_FOR = /^\W*what (?:does|do) (?:the |your )?["'`]?[\w-]+["'`]?(?: tool)? do\W*$/i;
const USING = /\b(?:using|with|via|through|by|use|call|run)\s+(?:the\s+|your\s+)?["'`]?$/i;
const HELP =
  /^\W*(?:please\s+)?help(?:\s+me)?(?:,?\s+please)?\W*$|\bwhat (?:can|could|should|do|may) i (?:ask|say|type|write|tell|try|do)\b(?: to)?(?: you)?(?: here| now| first)?\W*$|\bhow (?:do|can|should) i (?:use|talk to|start with) (?:you|this)\b|\b(?:give|show) me (?:some |a few |an )?examples?\W*$|^\W*what can you do(?: for me)?\W*$/i;

/** What the agent has: its tools, skills and subagents, as its prompt and its bound tools tell. */
export const inventoryAnswer: Intent = (instruction, turn) => {
  const asked = ASKS.test(instruction) && OWN.test(instruction) && !HAS_IT_DONE.test(instruction);
  if (asked && /\bsub-?agents?\b|\bagents?\b.*\bdelegate\b/i.test(instruction)) {
    return say(named("subagents", findDelegateTool(turn)?.known ?? []));
  }
  if (asked && /\bskills\b|\bskill\b.*\b(?:have|available|list)\b/i.test(instruction)) {
    const skills = readSkills(turn).map(({ name, description }) => (description ? `${name} (${description})` : name));
    const tools = /\btools\b/i.test(instruction) ? say(named("tools", toolNames(turn))) : [];
    return [...say(named("skills", skills)), ...tools];
  }
  return ofOneThing(instruction, turn) ?? ofTools(instruction, turn, asked);
};

function ofOneThing(instruction: string, turn: Turn): ReturnType<Intent> {
  const skill = ABOUT.test(instruction) && /\bskill\b/i.test(instruction) ? namedSkill(instruction, turn) : undefined;
  if (skill) return say(`${skill.name}: ${skill.description}`);
  const tool = turn.tools.find((each) => isAskedAbout(instruction, each));
  if (tool) return say(`${tool.name}: ${tool.description}\n${describeParameters(tool)}`);
  return undefined;
}

function ofTools(instruction: string, turn: Turn, asked: boolean): ReturnType<Intent> {
  if (HELP.test(instruction) && turn.tools.length > 0)
    return say(`${listExamples(turn)}${named("tools", toolNames(turn))}`);
  return (asked && /\b(?:tools?|functions?)\b|\bwhat can you do\b/i.test(instruction)) || HELP.test(instruction)
    ? say(named("tools", toolNames(turn)))
    : undefined;
}

/** "What does frobnicate take?", but not "What is 6 times 7 using the multiply tool?" */
function isAskedAbout(instruction: string, tool: OfflineTool): boolean {
  const mention = mentionOf(instruction, tool);
  if (!mention) return false;
  if (PARAMETERS.test(instruction) || WHAT_FOR.test(instruction)) return true;
  if (!ABOUT.test(instruction.slice(0, mention.index)) || !/\btool\b|[_]/i.test(instruction)) return false;
  return /\bhow\b/i.test(instruction) || !USING.test(instruction.slice(0, mention.index));
}

function toolNames({ tools }: Turn): string[] {
  return tools.map(({ name }) => name);
}

function describeParameters({ schema }: OfflineTool): string {
  const needed = requiredNames(schema);
  const told = Object.entries(schema.properties ?? {}).map(([name, parameter]) => {
    const kind = parameter.enum?.join(" or ") ?? typeOf(parameter);
    return `${name} (${kind}${needed.includes(name) ? "" : ", may be left out"})`;
  });
  return told.length > 0 ? `It takes ${told.join(", ")}.` : "It takes nothing.";
}

function named(what: string, names: readonly string[]): string {
  return names.length > 0 ? `My ${what}: ${names.join(", ")}.` : `I have no ${what} here.`;
}
