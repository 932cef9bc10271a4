import { posix } from "node:path";
import { mask, unquote } from "../phrase.ts";
import { followUp, type Intent, type Step, say } from "../step.ts";
import type { Turn } from "../turn.ts";
import { quoteWord, runCommand } from "./command-intent.ts";

const NAME = "(?:\\uE000\\d+\\uE001|[\\p{L}\\p{M}\\p{N}_@./-]+)";
const KIND = "(?:files?|folders?|director(?:y|ies))";
const names = (group: string) =>
  `(?:the\\s+|my\\s+|an?\\s+)?(?:(?<${group}Kind>${KIND})\\s+(?:named\\s+|called\\s+)?)?(?<${group}>${NAME}(?:(?:\\s*,\\s*(?:and\\s+)?|\\s+and\\s+)${NAME})*)(?:\\s+(?<${group}After>${KIND}))?`;
const TO = "(?<to>to|into|as|in|called|named)\\s+(?:be\\s+)?(?:called\\s+|named\\s+)?";
const FORM = new RegExp(
  `\\b(?<verb>rename|move|copy|duplicate|make a copy of)\\s+(?:the\\s+contents?\\s+of\\s+)?${names("from")}\\s+${TO}(?:both\\s+)?${names("target")}[.!]?$`,
  "iu",
);
const FOLDER = /folder|director/i;

/** No folder of such a name, but where one is already. */
const HERE = /^(?:root|top|top-level|main|current|working|workspace|this|same|project)$/i;
const PRONOUN = /^(?:it|that|this|them|one|file)$/i;

/** A file that is to have another name, or to be in another place as well. "Rename x to y in a.txt" is an edit. */
export const moveFileIntent: Intent = (instruction, turn) => {
  const { text, reveal } = mask(instruction.trim());
  const found = FORM.exec(text.replace(MAIN_FOLDER, "$1 root folder"))?.groups ?? {};
  const { verb = "", from = "", to = "" } = found;
  const sources = from.split(SEPARATOR).map((name) => unquote(reveal(name)));
  const isOfFolder = FOLDER.test(`${found["fromKind"]} ${found["fromAfter"]}`);
  const [first = "", ...more] = (found["target"] ?? "").split(SEPARATOR);
  if (more.length > 0)
    return toEach(reveal(text), [first, ...more].map(reveal), reveal(found["target"] ?? ""), verb, turn);
  const named = unquote(reveal(first)).replace(/\.$/, "");
  const isPlace = /^move$/i.test(verb) || /^in(?:to)?$/i.test(to);
  const isFolder =
    FOLDER.test(`${found["targetKind"]} ${found["targetAfter"]}`) ||
    (isPlace && !isOfFolder && /^[\w-]+$/.test(named) && sources.some((source) => source.includes(".")));
  const target = targetOf(named, isFolder);
  if (PRONOUN.test(from)) return say(`I can't tell which file to ${verb.toLowerCase()}: name it.`);
  if (!named || !sources.every((source) => isOfFolder || /[./]/.test(source + target))) return undefined;
  const copy = isOfFolder ? "cp -r" : "cp";
  const program = /copy|duplicate/i.test(verb) ? copy : "mv";
  const command = [program, ...sources.map(quoteWord), quoteWord(target)].join(" ");
  const move = runCommand(command, turn);
  if (!move) return say(`I can't ${verb.toLowerCase()} ${sources.join(", ")}: no tool here does that.`);
  return [...move, ...followUp((result) => (NO_FOLDER.test(result.output) ? intoNew(target, move, turn) : []))];
};

const SEPARATOR = /\s*,\s*(?:and\s+)?|\s+and\s+/;

/** "copy a.txt to b.txt and c.txt" is two copies; nothing is moved to two places. */
function toEach(
  said: string,
  targets: readonly string[],
  listed: string,
  verb: string,
  turn: Turn,
): ReturnType<Intent> {
  if (!/copy|duplicate/i.test(verb)) return say(`I can't ${verb.toLowerCase()} one thing to several places.`);
  const at = said.lastIndexOf(listed);
  return targets.flatMap((target) => moveFileIntent(`${said.slice(0, at)}${target}`, turn) ?? []);
}

/** "to the root", "to the main folder of the project" */
const MAIN_FOLDER =
  /\b(to|into|in)\s+(?:the\s+)?(?:(?:project|workspace)(?:['’]s)?\s+)?root(?:\s+(?:folder|directory|level))?(?:\s+of\s+(?:the\s+|my\s+|this\s+)?(?:project|workspace|repo(?:sitory)?))?(?=[.!]?$)/i;
/** What a program says where the folder is missing, and not the file. */
const NO_FOLDER = /\bcannot (?:create|move)\b.*(?:No such file or directory|Not a directory)/;

/** With a slash: where there is no such folder, the file would get its name. */
function targetOf(name: string, isFolder: boolean): string {
  if (isFolder && HERE.test(name)) return ".";
  return isFolder && !name.endsWith("/") ? `${name}/` : name;
}

function intoNew(target: string, move: readonly Step[], turn: Turn): readonly Step[] {
  const folder = target.endsWith("/") ? target : posix.dirname(target);
  return [...(runCommand(`mkdir -p ${quoteWord(folder)}`, turn) ?? []), ...move];
}
