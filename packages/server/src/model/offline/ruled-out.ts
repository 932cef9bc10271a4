import { findTool, type ToolUse } from "./find-tool.ts";
import { literal } from "./phrase.ts";
import type { Turn } from "./turn.ts";

const NEVER =
  "^(?:[-*•]\\s+|\\d+[.)]\\s+)?(?:(?:important|note|rule|also|and|but|please|always|from now on|you)[:,]?\\s+)*(?:never(?:\\s+ever)?|(?:do|must|may|shall|should|can)\\s*(?:not|n['’]?t)(?:\\s+ever)?|cannot|(?:are|is)\\s+(?:not\\s+allowed|forbidden)\\s+to)\\s+";
const ANY = "(?:the|any|a|an|all|your|my|our|user|existing)";
const END =
  "(?:,?\\s+(?:at all|ever|under any circumstances?|whatever (?:happens|the user says)|for any reason|from now on))?[.!]?$";
const FILES = "(?:files?|folders?|director(?:y|ies)|anything|things|data|the workspace)";

/** What a ban is of, with the tools that do it. A narrower one ("… unless asked") is for a model that can judge. */
const BANS: readonly (readonly [string, readonly ToolUse[]])[] = [
  [
    `(?:use|run|call|execute|invoke|open|touch)\\s+(?:${ANY}\\s+)*(?:shell|bash|terminal|command line|console|commands?)(?:\\s+(?:tool|commands?))?`,
    ["execute"],
  ],
  [`(?:run|execute)\\s+(?:${ANY}\\s+)*(?:code|programs?|scripts?|anything)`, ["execute"]],
  [`(?:delete|remove|erase)\\s+(?:${ANY}\\s+)*${FILES}`, ["delete"]],
  [`(?:edit|modify|change|alter|touch)\\s+(?:${ANY}\\s+)*${FILES}`, ["write", "edit", "delete"]],
  [`(?:write|create|make|save)\\s+(?:${ANY}\\s+|new\\s+)*${FILES}`, ["write"]],
  [`(?:read|open)\\s+(?:${ANY}\\s+)*${FILES}`, ["read"]],
  [
    `delegate(?:\\s+(?:${ANY}\\s+)*(?:work|tasks?|anything|to (?:anyone|others|sub-?agents?|other agents)))?`,
    ["delegate"],
  ],
];
const LIST = "(?:\\s*,\\s*(?:or\\s+|and\\s+)?|\\s+(?:or|and)\\s+)";
const HINT = /\bnever\b|n['’]?t\b|\bnot\b|\bforbidden\b/i;
/** Through the shell as well. */
const DELETES = /^\s*(?:sudo\s+)?(?:rm|rmdir|unlink|shred)\b/;
const MAX_SOURCE = 30_000;

/** The sentence of the system prompt, or of what the user said always holds, that rules out a call. */
export function ruledOutBy(
  call: { tool: string; args: Readonly<Record<string, unknown>> },
  turn: Turn,
): string | undefined {
  const tool = turn.tools.find(({ name }) => name === call.tool);
  if (!tool) return undefined;
  const deletes =
    tool === findTool(turn.tools, "execute") && Object.values(call.args).some((value) => DELETES.test(String(value)));
  const uses = BANS.flatMap(([, banned]) => banned).filter((use) => findTool(turn.tools, use) === tool);
  const forms = BANS.filter(([, banned]) =>
    banned.some((use) => uses.includes(use) || (deletes && use === "delete")),
  ).map(([form]) => form);
  const named = `(?:use|call|invoke|run)\\s+(?:the\\s+|your\\s+)?["'\`]?${literal(tool.name)}["'\`]?(?:\\s+tool)?`;
  return bansIn(turn).find((sentence) => isOf(sentence, [...forms, named]));
}

/** "Never create, edit or delete files" is three. */
function isOf(sentence: string, forms: readonly string[]): boolean {
  const object = new RegExp(`\\s+((?:${ANY}\\s+)*${FILES})${END}`, "i").exec(sentence)?.[1];
  if (new RegExp(`${NEVER}(?:${forms.join("|")})${END}`, "i").test(sentence)) return true;
  const [, listed = ""] =
    new RegExp(`${NEVER}(\\w+(?:${LIST}\\w+)+)\\s+(?:${ANY}\\s+)*${FILES}${END}`, "i").exec(sentence) ?? [];
  return listed
    .split(new RegExp(LIST))
    .some((verb) => forms.some((form) => new RegExp(`^(?:${form})$`, "i").test(`${verb} ${object}`)));
}

function bansIn({ system, earlier }: Turn): string[] {
  const rules = earlier.filter((said) => /\b(?:never|from now on|always)\b/i.test(said));
  return [system, ...rules]
    .filter((source) => HINT.test(source))
    .flatMap((source) => source.slice(0, MAX_SOURCE).split(/(?<=[.!])\s+|\n+/))
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence.length < 200 && HINT.test(sentence));
}
