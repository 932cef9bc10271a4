import { literal } from "./phrase.ts";
import { IMPERATIVE, withReferent } from "./split-instructions.ts";
import { findPath } from "./workspace-path.ts";

const NAME = "[\\p{L}\\p{N}_@./-]+\\.[A-Za-z]\\w{0,9}";
const WITH_NAME = new RegExp(`\\bwith\\s+(?:the\\s+)?(?:file\\s?)?name\\s+(?=${NAME})`, "iu");
const IN_BRACKETS = /\((containing|with|saying)\s+([^()]*)\)/gi;
const LISTED = new RegExp(
  `\\b(files)\\s*:\\s*(?=${NAME}(?:(?:\\s*,\\s*(?:and\\s+)?|\\s+and\\s+)${NAME})*[.!]?$)`,
  "iu",
);

/** Says an instruction in the way in which most people would: the intents know that one. */
export function plainly(instruction: string): string {
  return instruction.replace(WITH_NAME, "named ").replace(IN_BRACKETS, "$1 $2").replace(LISTED, "$1 named ");
}

const BEFORE = /^\s*(?:please\s+)?before\s+(?:you\s+|we\s+)?(\p{L}+)\s+([^,]+),\s*([\s\S]+)$/iu;
const VERB = new RegExp(`^(?:${IMPERATIVE})$`, "i");

/** "Before you delete a.txt, read it" says last what is to be done first. */
export function inOrder(request: string): string {
  const [, said = "", object = "", first = ""] = BEFORE.exec(request) ?? [];
  const verb = [said, ...stems(said)].find((word) => VERB.test(word));
  // "Before you delete anything, ask me" is a rule and orders nothing.
  if (verb === undefined || (findPath(object) === undefined && !/[`"]/.test(object))) return request;
  const last = `${verb} ${object}`;
  return `${withReferent(first.replace(/[.!]\s*$/, ""), [last])}. Then ${last}`;
}

/** "deleting", "running", "reading" */
function stems(word: string): string[] {
  const stem = /^(.*)ing$/i.exec(word)?.[1];
  if (stem === undefined) return [];
  const doubled = stem.at(-1) ?? "";
  return [stem, `${stem}e`, stem.replace(new RegExp(`${literal(doubled)}{2}$`), doubled)];
}
