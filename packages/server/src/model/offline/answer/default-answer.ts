import { listTools } from "../intent/named-tool-intent.ts";
import type { Turn } from "../turn.ts";
import { listExamples } from "./examples.ts";
import { ownName } from "./memory-answer.ts";

const WHO =
  /^\s*(?:who|what)(?:'re| are) you\b|\b(?:what|which) (?:\w+ )?model\b[^.]*\b(?:you|this|running|used?)\b|\bare you (?:an?|the)?\s*(?:ai|bot|robot|human|person|model|gpt|claude|chatgpt|llm)\b/i;
const HOW = "Set OPENAI_API_KEY or ANTHROPIC_API_KEY, or configure a provider, to get answers from a real one.";

/** What is said where nothing was understood: who is speaking, what it can do, and how to get a real model. */
export function defaultAnswer(turn: Turn): string {
  const { request, tools } = turn;
  if (/\bsummar/i.test(request) && tools.length === 0) return summary(request);
  const who =
    "I am Cognition's offline model, which follows plain instructions in English but is not a language model.";
  return `${opening(turn)}${who} ${tools.length > 0 ? `${listExamples(turn)}${listTools(tools)} ` : ""}${HOW}`;
}

function opening({ request, system }: Turn): string {
  if (/^\s*(?:hi|hello|hey|good (?:morning|evening|afternoon))\b/i.test(request)) return "Hello! ";
  if (!WHO.test(request)) return "I can't answer that by myself: ";
  const name = ownName(system);
  return name ? `I am ${name}. ` : "";
}

const MAX_SUMMARY = 1_500;

// Agents shorten long conversations by asking their model; losing everything then would be worse than a crude cut.
function summary(request: string): string {
  const lines = request
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  const text = lines.join("\n");
  const kept =
    text.length > MAX_SUMMARY ? `${text.slice(0, MAX_SUMMARY / 2)}\n…\n${text.slice(-MAX_SUMMARY / 2)}` : text;
  return `Summary (shortened by the offline model):\n${kept.toWellFormed()}`;
}
