import { literal, mask, POLITE, QUOTED } from "./phrase.ts";
import { IMPERATIVE, withReferent } from "./split-instructions.ts";
import { findPath } from "./workspace-path.ts";

const NAME = "[\\p{L}\\p{N}_@./-]+\\.[A-Za-z]\\w{0,9}";
const WITH_NAME = new RegExp(`\\bwith\\s+(?:the\\s+)?(?:file\\s?)?name\\s+(?=${NAME})`, "iu");
const RENAMED = new RegExp(
  `\\bchange\\s+the\\s+(?:file\\s*)?name\\s+of\\s+(?:the\\s+file\\s+)?(${NAME})\\s+to\\s+(${NAME})(?=[.!]?$)`,
  "iu",
);
const FOLDER_BEFORE_RUN =
  /^\s*(?:please\s+)?(?:in(?:side)?|from)\s+(?:the\s+)?([\w./-]+)(?:\s+(?:folder|directory|dir))?,?\s+(?:please\s+)?(?:run|execute)\s+(\S[\s\S]*?)[.!]?$/i;
const GO_TO_FOLDER =
  /^\s*(?:please\s+)?(?:go|change|switch|navigate|cd)\s+(?:(?:in)?to\s+)?(?:the\s+)?(?:(?:folder|directory)\s+)?["'`]?([\w./-]+)["'`]?(?:\s+(?:folder|directory|dir))?,?\s+(?:and|then)\s+(?:then\s+)?(?=\S)/i;
const MAIL = /^(\s*(?:please\s+)?\w+\s+(?:an?\s+)?)e-mail\b/i;
const IN_MEMORY =
  /^\s*(?:please\s+)?(?:store|save|keep|note|put|write|add)\s+(?:it\s+)?(?:down\s+)?(?:in|to)(?:to)?\s+(?:your\s+|the\s+)?(?:long-?term\s+)?memory\s*(?:that\s+|:\s*)/i;
const NO_APOSTROPHE = /^(\s*(?:(?:and|so|please|ok(?:ay)?|hey|hi),?\s+)*(?:what|where|who|that|how))s(?=\s)/i;
const IN_BRACKETS = /\((containing|with|saying)\s+([^()]*)\)/gi;
const LISTED = new RegExp(
  `\\b(files)\\s*:\\s*(?=${NAME}(?:(?:\\s*,\\s*(?:and\\s+)?|\\s+and\\s+)${NAME})*[.!]?$)`,
  "iu",
);

const KEEP_OLD =
  /,?\s+(?:but\s+(?:please\s+)?(?:don['’]t|do not|never)\s+(?:overwrite|replace|clobber)\s+(?:it|one|the file|anything|what)(?:\s+(?:(?:if|that)\s+)?(?:it\s+)?(?:is\s+)?(?:already\s+)?(?:exists|there))?|without\s+overwriting\s+(?:it|one|the file|anything))(?=[.!]?$)/i;

const WISH =
  /^\s*(?:(?:hi|hello|hey|yo|ok(?:ay)?|well|so|alright)(?: there)?[,!.]?\s+)*(?:if you don['’]t mind,?\s+)?(?:(?:would|do) you mind\s+(\p{L}+ing)\b|(?:do me a favou?r and|be so kind as to|could you be so kind as to|i(?:'d| would) (?:love|like) (?:it if you would|you to)|i need you to|let['’]?s|gimme(?= ))\s+)/iu;

/** "reading a.txt", as work is handed over; "reading a.txt was a mistake" tells of it. */
const DOING =
  /^\s*((?:read|list|creat|writ|find|search|show|mak)ing)\s+(?!.*\b(?:is|was|are|were|will|would|can|has|had)\b)/i;

function asVerb(instruction: string): string {
  const doing = DOING.exec(instruction)?.[1];
  const verb = doing && verbOf(doing);
  return verb ? instruction.replace(doing, verb) : instruction;
}

/** "Would you mind listing the files" is an order like others. */
function ordered(instruction: string): string {
  const [wish, doing] = WISH.exec(instruction) ?? [];
  if (wish === undefined) return asVerb(instruction);
  const verb = doing === undefined ? "" : verbOf(doing);
  if (verb === undefined) return instruction;
  return `${verb}${doing === undefined && /gimme/i.test(wish) ? "give me " : ""}${instruction.slice(wish.length)}`;
}

/** Says an instruction in the way in which most people would: the intents know that one. */
export function plainly(instruction: string): string {
  return ordered(instruction)
    .replace(GO_TO_FOLDER, "in the $1 folder, ")
    .replace(FOLDER_BEFORE_RUN, "run $2 in the $1 folder")
    .replace(MAIL, "$1email")
    .replace(IN_MEMORY, "remember that ")
    .replace(NO_APOSTROPHE, "$1's")
    .replace(RENAMED, "rename $1 to $2")
    .replace(WITH_NAME, "named ")
    .replace(IN_BRACKETS, "$1 $2")
    .replace(LISTED, "$1 named ")
    .replace(KEEP_OLD, " if it does not exist")
    .replace(/\bw\/\s*(?=\w)/i, "with ");
}

const MARK = "(?:\\d+[.)]|[-*•])";
/** "Create two files:" with one on each line. */
const HEADED = new RegExp(
  `^(\\s*${POLITE}(?:create|make|write|add|delete|remove|read|show me|show|open|print)\\b)[^:\\n]{0,40}\\bfiles\\b[^:\\n]{0,30}:[^\\S\\n]*\\n+((?:[^\\S\\n]*(?:${MARK}[^\\S\\n]+)?\\S[^\\n]*(?:\\n+|$))+)$`,
  "i",
);
const NAME_FIRST = new RegExp(`^\\s*(?:${MARK}\\s+)?((?:${QUOTED}|${NAME})(?![\\p{L}\\p{N}/_]).*)$`, "u");

/** "Please do the following: …" says nothing itself. */
const DO_THIS = new RegExp(
  `^\\s*${POLITE}(?:do|perform|complete|carry out)\\s+(?:(?:all|both|each)\\s+(?:of\\s+)?)?(?:the following|this|these|the next)(?:\\s+(?:\\w+\\s+)?(?:things?|steps?|tasks?))?(?:\\s+(?:for me|in order))?\\s*:\\s+(?=\\S)(?!\\d+[.)]|[-*•])`,
  "i",
);

/** The verb of a list is that of each of its lines. */
export function headed(said: string): string {
  const request = said.replace(DO_THIS, "");
  const { text, reveal } = mask(request);
  const [, verb, list = ""] = HEADED.exec(text) ?? [];
  const lines = list.split(/\n+/).filter((line) => line.trim() !== "");
  const names = lines.findIndex((line) => !NAME_FIRST.test(line));
  const named = lines.slice(0, names === -1 ? lines.length : names);
  if (verb === undefined || named.length < 2) return request;
  const orders = named.map((line) => `${verb} ${NAME_FIRST.exec(line)?.[1] ?? ""}`);
  return reveal([...orders, ...lines.slice(named.length)].join("\n"));
}

const BEFORE = /^\s*(?:please\s+)?before\s+(?:you\s+|we\s+)?(\p{L}+)\s+([^,]+),\s*([\s\S]+)$/iu;
const VERB = new RegExp(`^(?:${IMPERATIVE})$`, "i");

/** "read a.txt before deleting it", "delete a.txt after you have read it": the little word stands between the two. */
const BETWEEN =
  /^([^:,]+?)\s+(before|after)\s+(?:you\s+(?:have\s+)?)?(\p{L}+)\s+((?:it|them|the|that|this)\b[^,]*|[^,]*[./`"][^,]*)$/iu;
/** "Tell me before you delete it" is a rule. */
const ORDER = new RegExp(`^\\s*${POLITE}(?!(?:tell|ask|let|warn)\\s+me\\b)(?:${IMPERATIVE})\\b`, "i");
/** After such a word stands what a file is to hold. */
const CONTENT = /\b(?:containing|contains?|with|saying|says|reading|add|append|insert|put|write)\b/i;

/** "Before you delete a.txt, read it" says last what is to be done first. */
export function inOrder(request: string): string {
  return firstBefore(request) ?? twoInOrder(request) ?? request;
}

function firstBefore(request: string): string | undefined {
  const [, said = "", object = "", first = ""] = BEFORE.exec(request) ?? [];
  const verb = verbOf(said);
  // "Before you delete anything, ask me" is a rule and orders nothing.
  if (verb === undefined || (findPath(object) === undefined && !/[`"]/.test(object))) return undefined;
  const last = `${verb} ${object}`;
  return `${withReferent(first.replace(/[.!]\s*$/, ""), [last])}. Then ${last}`;
}

function twoInOrder(request: string): string | undefined {
  const { text, reveal } = mask(request.trim().replace(/[.!]$/, ""));
  const [, one = "", word = "", said = "", object = ""] = BETWEEN.exec(text) ?? [];
  const verb = verbOf(said);
  if (verb === undefined || CONTENT.test(one) || !ORDER.test(one)) return undefined;
  const other = withReferent(`${verb} ${reveal(object)}`, [reveal(one)]);
  const [first, last] = /after/i.test(word) ? [other, reveal(one)] : [reveal(one), other];
  return `${first}. Then ${last}`;
}

function verbOf(said: string): string | undefined {
  return [said, ...stems(said)].find((word) => VERB.test(word));
}

/** "deleting", "running", "reading" */
function stems(word: string): string[] {
  const stem = /^(.*)ing$/i.exec(word)?.[1];
  if (stem === undefined) return [];
  const doubled = stem.at(-1) ?? "";
  return [stem, `${stem}e`, stem.replace(new RegExp(`${literal(doubled)}{2}$`), doubled)];
}
