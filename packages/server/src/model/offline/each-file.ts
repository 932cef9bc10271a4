import { mask, QUOTED } from "./phrase.ts";
import type { Intent } from "./step.ts";

const NAME = "[\\p{L}\\p{M}\\p{N}_@./-]";
const PATH = `(?:the\\s+)?(?:file\\s+)?(?:${QUOTED}|["'\`]?${NAME}*${NAME}\\.[A-Za-z]\\w{0,9}["'\`]?(?!${NAME}*[\\p{L}\\p{N}]))`;
const WORD = `["'\`]?${NAME}+["'\`]?`;
const listOf = (name: string) => `${name}(?:\\s*,\\s*(?:and\\s+)?${name}|\\s+and\\s+${name})+`;
/** Names one after the other: of files by their look, or whatever follows "files named". */
const LIST = new RegExp(`(?<=\\bfiles\\s+(?:named|called)\\s+)${listOf(WORD)}|(?<!${NAME})${listOf(PATH)}`, "iu");
/** After such a word stands what a file holds: names in it are not what is asked about. */
const CONTENT = /\b(?:containing|contains?|with|saying|says|reading)\b|:/i;

/** "read a.txt and b.txt" is two instructions: the same intent has each of them. */
export function eachFile(intent: Intent): Intent {
  return (instruction, turn) => {
    if (!mayList(instruction)) return intent(instruction, turn);
    const steps = spellOut(instruction).map((part) => intent(part, turn));
    return steps.every((found) => found !== undefined) ? steps.flat() : intent(instruction, turn);
  };
}

/** Most sentences name no two files, which is told faster by this. */
function mayList(instruction: string): boolean {
  return /,|\band\b/i.test(instruction) && /\.\w|\bfiles\s/i.test(instruction);
}

function spellOut(instruction: string): string[] {
  const { text, reveal } = mask(instruction);
  // A quoted name is a name; a quoted sentence is not looked into.
  const shown = text.replace(/\uE000\d+\uE001/g, (part) =>
    /^.[\w@./-]+\.\w+.$/.test(reveal(part)) ? reveal(part) : part,
  );
  const list = LIST.exec(shown);
  // Names with spaces are still hidden, and so is a quoted sentence, which is none.
  const hidden = list?.[0].match(new RegExp(QUOTED, "g")) ?? [];
  if (hidden.some((part) => !/\.[A-Za-z]\w{0,9}.$/.test(reveal(part)))) return [instruction];
  if (!list || CONTENT.test(shown.slice(0, list.index))) return [instruction];
  const after = shown.slice(list.index + list[0].length).replace(/^\s*,?\s*(?:each|both|all)\b/i, "");
  const names = list[0].split(SEPARATOR);
  const contents = pairedWith(names.length, shown.slice(list.index + list[0].length));
  return names.map((name, at) => reveal(`${shown.slice(0, list.index)}${name}${contents?.[at] ?? after}`));
}

const SEPARATOR = /\s*,\s*(?:and\s+)?|\s+and\s+/;
const RESPECTIVELY = /,?\s+(?:respectively|in (?:this|that) order)(?=[.!]?$)/i;
const HELD =
  /^(\s*,?\s*(?:that\s+(?:contain|say|hold)|containing|with(?:\s+(?:the\s+)?(?:contents?|texts?|words?|lines?))?|saying)\s+)([\s\S]+?)[.!]?$/i;

/** "with 'foo' and 'bar' respectively", "containing 1, 2 and 3": one for each of the files. Two words may be one content. */
function pairedWith(count: number, after: string): string[] | undefined {
  const [, word = "", said = ""] = HELD.exec(after.replace(RESPECTIVELY, "")) ?? [];
  const items = said.split(SEPARATOR);
  const isPaired = RESPECTIVELY.test(after) || count > 2 || items.every((item) => new RegExp(`^${QUOTED}$`).test(item));
  return isPaired && count > 1 && items.length === count ? items.map((item) => `${word}${item}`) : undefined;
}
