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
  const named = skills.find(({ name }) =>
    new RegExp(`(?<!\\w)${wordsOf(name).join("[\\s_-]?")}(?!\\w)`, "i").test(said),
  );
  if (named) return named;
  const asked = stems(said);
  const scored = skills.map((skill) => ({
    skill,
    score: [...stems(`${skill.name} ${skill.description}`)].filter((word) => asked.has(word)).length,
  }));
  const best = scored.sort((a, b) => b.score - a.score)[0];
  return best && best.score >= 2 ? best.skill : undefined;
}

function stems(text: string): Set<string> {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu) ?? [];
  return new Set(words.filter((word) => !COMMON.has(word)).map((word) => word.replace(/(?:ings?|ed|es|s)$/, "")));
}
