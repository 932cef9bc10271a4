import { wordsOf } from "./offline-tool.ts";
import type { Turn } from "./turn.ts";

export interface Skill {
  readonly name: string;
  readonly description: string;
  readonly path: string | undefined;
}

const ENTRY = /^\s*[-*]\s+\*\*([\w .-]+)\*\*:?\s*:?\s*(.*)$/;
const PATH = /[`"']?((?:[\w@.~-]*\/)+SKILL\.md)[`"']?/i;

/** The skills that the system prompt lists, each with the path of its instructions. */
export function readSkills({ system }: Turn): Skill[] {
  const lines = system.split("\n");
  return lines.flatMap((line, at) => {
    const entry = ENTRY.exec(line);
    if (!entry?.[1]) return [];
    const path = PATH.exec(line)?.[1] ?? PATH.exec(lines[at + 1] ?? "")?.[1];
    return path ? [{ name: entry[1], description: entry[2] ?? "", path }] : [];
  });
}

const COMMON = new Set(
  "a an and are as at be by can do for from how i in is it me my of on or please should so that the this to use used using user users want we what when which with write you your skill people person file files make create".split(
    " ",
  ),
);

/** The skill that a request asks for by its name, or else the one whose description shares the most words with it. */
export function matchSkill(request: string, turn: Turn): Skill | undefined {
  const skills = readSkills(turn);
  // "Store hello in greeting.txt" asks for no greeting.
  const said = request.replace(/\S*[./]\S+/g, " ");
  const named = namedSkill(said, turn);
  if (named) return named;
  const asked = stems(said);
  const scored = skills.map((skill) => ({
    skill,
    score: [...stems(`${skill.name} ${skill.description}`)].filter((word) => asked.has(word)).length,
  }));
  const best = scored.sort((a, b) => b.score - a.score)[0];
  return best && best.score >= 2 ? best.skill : undefined;
}

export function namedSkill(said: string, turn: Turn): Skill | undefined {
  return readSkills(turn).find(({ name }) =>
    new RegExp(`(?<!\\w)${wordsOf(name).join("[\\s_-]?")}(?!\\w)`, "i").test(said),
  );
}

export function listSkills(turn: Turn): string {
  const names = readSkills(turn).map(({ name }) => name);
  return names.length > 0 ? `My skills: ${names.join(", ")}.` : "I have no skills here.";
}

const ONE_SKILL =
  /\bskill\s+(?:named\s+|called\s+)?["'`]?([\w-]+)["'`]?\s*[.!?]?$|\b(?:use|follow|apply|read|load)\s+(?:the\s+|your\s+)?["'`]?([\w-]+)["'`]?\s+skill\b/i;

/** "Use the cooking skill", where there is none. */
export function unknownSkill(said: string, turn: Turn): string | undefined {
  const [, after, before] = ONE_SKILL.exec(said) ?? [];
  const name = after ?? before;
  if (!name || /^(?:the|this|that|a|your|my|right|best|read|load|named|called)$/i.test(name)) return undefined;
  return namedSkill(said, turn) ? undefined : name;
}

function stems(text: string): Set<string> {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu) ?? [];
  return new Set(words.filter((word) => !COMMON.has(word)).map((word) => word.replace(/(?:ings?|ed|es|s)$/, "")));
}
