import type { OfflineTool } from "./offline-tool.ts";
import { dropEnd, literal } from "./phrase.ts";

const LEADING: readonly RegExp[] = [
  /^[\s,:;.!–—-]+/,
  /^(?:please|now|tool|function|once|again|it|and|in order)\b/i,
  /^(?:to|for|with|on|about|using|via|by|of|in(?!\s+order)|at)\b(?!\s*[=:])/i,
  /^(?:that|which|this:)\s+/i,
  /^(?:the|this|following)\s+(?:arguments?|parameters?|input|args?|values?)\b/i,
  /^(?:arguments?|parameters?|input|args?|values?|query)\b(?!\s*=)/i,
];
const VERBS =
  /^(?:find(?: out)?|search(?: for)?|look(?: up| for)?|get|fetch|show(?: me)?|check|say|tell(?: me)?|compute|calculate|convert|translate|print|echo|give me|locate|ask|lookup|query|grep(?: for)?|see|run(?: the command)?|execute)\b\s*(?=\S)/i;
/** Where one searches anyway: "search the web for x". */
const EVERYWHERE = /^(?:on\s+)?(?:the\s+)?(?:web|internet|net|files|code)\s+for\s+/i;
const OBJECTS =
  /^(?:(?:all|every|any|each)\s+)?(?:(?:the\s+)?(?:occurrences?|lines?|places|mentions?|matches|files?)\s+(?:of|with|containing|that contain|for|where)\s+)?(?:the\s+)?(?:word|text|string|phrase|term|pattern|sentence|message|name)\s+(?=\S)/i;

/** What an instruction says besides that this tool is to be used: "Use the grep tool to find TODO" leaves "TODO". */
export function restOf(instruction: string, tool: OfflineTool): string {
  let rest = dropEnd(afterName(instruction, tool));
  for (let before = ""; before !== rest; ) {
    before = rest;
    for (const pattern of LEADING) rest = rest.replace(pattern, "").trimStart();
  }
  rest = rest.replace(VERBS, "").replace(EVERYWHERE, "");
  return rest
    .replace(OBJECTS, "")
    .replace(/^(?:for|about)\s+(?=\S)/i, "")
    .replace(/(?:,\s*|\s+)(?:please|pls|thanks|thank you)\s*[.!]*$/i, "")
    .trim();
}

function afterName(instruction: string, tool: OfflineTool): string {
  const match = mentionOf(instruction, tool);
  if (!match) return instruction;
  const again = new RegExp(`\\s+(?:using|with|via|by)\\s+(?:the\\s+)?${literal(match[0])}(?:\\s+tool)?$`, "i");
  const after = dropEnd(instruction.slice(match.index + match[0].length)).replace(again, "");
  const isQuoted = /["'`]$/.test(instruction.slice(0, match.index));
  if (/[\p{L}\p{N}]/u.test(after.replace(/^["'`]?\s*(?:tool|function)?/i, "")))
    return isQuoted ? after.replace(/^["'`]/, "") : after;
  // The tool is named last: "find TODO with the grep tool".
  const before = instruction
    .slice(0, match.index)
    .replace(
      /\s+(?:with|using|via|by|through|use|call|run|in)?(?:\s+(?:calling|using|running|the help of))?(?:\s+(?:the|my|your|a))?\s*["'`]?$/i,
      "",
    );
  return before.replace(/^(?:please\s+)?(?:use|call|run|invoke|try)(?:\s+(?:the|my|your|a))?\s*$/i, "");
}

/** Where a text names a tool, in any of the ways a person would write it. */
export function mentionOf(text: string, { name, words }: OfflineTool): RegExpExecArray | null {
  // Most tools are not spoken of: patterns are made for those only that may be.
  if (!text.toLowerCase().includes(words.at(-1) ?? name.toLowerCase())) return null;
  const exact = new RegExp(`(?<![\\w-])${literal(name)}(?![\\w-])`, "i").exec(text);
  if (exact) return exact;
  // A tool of an MCP server has the server's name in front, which people leave out.
  const own = name.replace(/^[^_]+_/, "");
  const short = own.includes("_") ? new RegExp(`(?<![\\w-])${literal(own)}(?![\\w-])`).exec(text) : null;
  if (short) return short;
  const spaced = new RegExp(`(?<![\\w-])${words.join("[\\s_-]?")}(?![\\w-])`, "i");
  return words.length > 1 ? (spaced.exec(text) ?? mentionOfLastWord(text, own)) : null;
}

/** A single word that is left of a name is a word like others: it names a tool where one is spoken of. */
function mentionOfLastWord(text: string, word: string): RegExpExecArray | null {
  if (!/^[a-z0-9]{3,}$/i.test(word)) return null;
  return new RegExp(
    `(?<=\\b(?:call|invoke)\\s+(?:the\\s+|your\\s+)?["'\`]?)${word}(?![\\w.-])` +
      `|(?<=\\b(?:use|using)\\s+["'\`]?)${word}(?=["'\`]?\\s+(?:with|to|on|for)\\b|["'\`]?:)` +
      `|(?<![\\w-])${word}(?=["'\`]?\\s+(?:tool|function)\\b)`,
    "i",
  ).exec(text);
}

/** Whether a mention is of the tool by no more than the last word of its name, which others may share. */
export function isLastWord({ words }: OfflineTool, mention: string): boolean {
  return words.length > 1 && mention.toLowerCase() === words.at(-1);
}
