import { mask } from "./phrase.ts";
import { IMPERATIVE } from "./split-instructions.ts";

/** What orders are made of, besides names and what is to be written. */
const KNOWN = [
  ...IMPERATIVE.replace("summari[sz]e", "summarise|summarize").split("|"),
  ..."please could would can you the this that these all and every file files folder folders directory contents content text line lines word words named called containing saying with from into what which where does have your tools skills agents subagents command commands todo steps following working current".split(
    " ",
  ),
];
const MIN_LENGTH = 3;
const MAX_CHECKED = 300;
/** "deleted" is no slip of "delete", and tells of something else. */
const INFLECTED = /(?:e?s|e?d|e?r|e?rs|ing|n)$/i;
/** Where a name or what is to be written begins, nothing is to be mended; the word after a name may join the two. */
const ORDER = /^((?:(?![\p{L}\p{N}_@-]*[./]\S)[^\uE000:])*)((?:\uE000\d+\uE001|\S*[./]\S+)\s+[\p{L}]+)?/u;

/** The sentence with the words mended that are one slip away from one that orders are made of. */
export function spelled(instruction: string): string {
  const { text, reveal } = mask(instruction.slice(0, MAX_CHECKED));
  const [whole = "", order = "", joint = ""] = ORDER.exec(text) ?? [];
  const mended = joint.replace(/\p{L}+$/u, mend);
  return (
    reveal(
      `${order.replace(/(?<![\p{L}\p{N}'’_-])\p{L}+(?![\p{L}\p{N}'’_-])/gu, mend)}${mended}${text.slice(whole.length)}`,
    ) + instruction.slice(MAX_CHECKED)
  );
}

function mend(word: string): string {
  const said = word.toLowerCase();
  if (said.length < MIN_LENGTH || KNOWN.includes(said) || KNOWN.includes(said.replace(INFLECTED, ""))) return word;
  if (KNOWN.some((known) => said.startsWith(known) && INFLECTED.test(said.slice(known.length)))) return word;
  const [near, ...others] = KNOWN.filter((known) =>
    known.length > MIN_LENGTH ? isOneSlip(said, known) : isExchange(said, known),
  );
  return near === undefined || others.length > 0 ? word : near;
}

/** One letter too many, too few or wrong, or two that changed places; the first letter is mostly right. */
export function isOneSlip(said: string, known: string): boolean {
  if (said[0] !== known[0] || Math.abs(said.length - known.length) > 1) return false;
  let at = 0;
  while (at < said.length && said[at] === known[at]) at++;
  const [a, b] = [said.slice(at), known.slice(at)];
  return a.slice(1) === b || a === b.slice(1) || a.slice(1) === b.slice(1) || isExchange(a, b);
}

function isExchange(a: string, b: string): boolean {
  const at = [...a].findIndex((letter, index) => letter !== b[index]);
  return at !== -1 && a[at] === b[at + 1] && a[at + 1] === b[at] && a.slice(at + 2) === b.slice(at + 2);
}
