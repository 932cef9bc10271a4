import { STARTS_PROGRAM } from "./intent/command-intent.ts";
import { isFenced, mask, POLITE, QUOTED } from "./phrase.ts";
import { findPath, inFolder } from "./workspace-path.ts";

/** What an order begins with, as a pattern. */
export const IMPERATIVE =
  "list|read|show|open|print|display|create|make|write|save|put|add|append|insert|edit|change|replace|rename|move|copy|delete|remove|run|execute|use|call|invoke|search|find|grep|look|delegate|ask|tell|plan|count|say|repeat|remember|recall|forget|summari[sz]e|fetch|get|check|answer|reply";
const PATH =
  "(?:the\\s+|an?\\s+)?(?:file\\s+)?(?:named\\s+|called\\s+)?[\\p{L}\\p{N}_@./-]+\\.[A-Za-z]\\w{0,9}(?![\\p{L}\\p{N}_/@])";

/** "the last line of b.txt", "the docs folder": what a verb before it may be about as well. */
const LINE_OF = "(?:the\\s+)?(?:[\\w-]+\\s+){1,2}lines?\\s+of\\s";
const FOLDER = "(?:the\\s+)[\\w./-]+\\s+(?:folder|directory)\\s*[.!]?$";

/**
 * Where one instruction may end and the next begin. Whether it does is decided by whether the next one makes sense.
 * ordered: a "then", which ends even a command; sentence: a new one; soft: an "and" or a comma, over which some reach.
 */
type Kind = "ordered" | "sentence" | "line" | "soft";
const BOUNDARIES: readonly (readonly [Kind, RegExp])[] = [
  [
    "ordered",
    /[.,;!]?\s+(?:and\s+)?(?:then|after that|after which|afterwards|and finally|finally|next|secondly|thirdly|lastly|(?<=[.,;!\uE001]\s+(?:and\s+)?)(?:second|third|last)(?=[,:]))\b[,:]?\s+/gi,
  ],
  ["sentence", /(?<=[.!?])\s+(?=\p{Lu})/gu],
  ["sentence", new RegExp(`(?<=[.!?])\\s+(?=${POLITE}(?:${IMPERATIVE})\\b)`, "g")],
  ["sentence", new RegExp(`,?\\s+but\\s+(?:instead,?\\s+|rather\\s+|do\\s+)?(?=${POLITE}(?:${IMPERATIVE})\\b)`, "gi")],
  ["line", /;\s+/g],
  ["line", new RegExp(`\\s+\\d+[.)]\\s+(?=${POLITE}(?:${IMPERATIVE})\\b)`, "gi")],
  ["line", /\n+\s*(?:\d+[.)]|[-*•])?\s*/g],
  [
    "soft",
    new RegExp(
      `(?:,\\s*(?:and\\s+)?(?=${POLITE}(?:${IMPERATIVE})\\b)|\\s+and\\s+(?=${POLITE}(?:${IMPERATIVE}|what|who)\\b))`,
      "gi",
    ),
  ],
  // What stands under a condition is kept with it: "read a.txt, and if it contains x, delete it".
  ["soft", /(?:,|,?\s+(?:and|but|then)(?:\s+then)?)\s+(?=(?:if|unless)\b)/gi],
  // "use the grep tool to find x and the ls tool to list files"
  ["soft", /(?:,\s*(?:and\s+)?|\s+and\s+)(?=(?:the|your)\s+["'`]?[\w.-]+["'`]?\s+tool\s+(?:to|for)\b)/gi],
  ["soft", new RegExp(`,?\\s+and\\s+(?=${LINE_OF})`, "gi")],
  ["soft", /,?\s+and\s+(?=in(?:side|to)?\s+(?:it|there)\b)/gi],
  // The verb is left out the second time: "create a.txt with one and b.txt with two", "write x to a.txt and y to b.txt".
  ["soft", new RegExp(`(?<!\\.\\w{1,10}),?\\s+and\\s+(?=${PATH})`, "giu")],
  ["soft", new RegExp(`(?:,\\s*|,?\\s+and\\s+)(?=(?:\\S+\\s+){1,5}?(?:to|into|in)\\s+${PATH})`, "giu")],
];
/** Each is weighed against all the text before it; a long text pasted into a message would take minutes. */
const MAX_BOUNDARIES = 60;
const MAX_SENTENCE = 1_000;
const COMMAND =
  /\b(?:commands?|shell|terminal|bash)\b[^:]*:|^\s*\$\s|\b(?:run|execute)\b(?:\s+(?:this|these|the following))?\s*:/i;
/** "Run the following commands:" goes on in a list. */
const LISTED_COMMANDS = /\bcommands\b[^:\n]*:\s*(?:$|\n\s*(?:\d+[.)]|[-*•])\s)/i;
/** "Write exactly this to a.txt: …" goes on to its end, however much that reads like instructions. */
const EXACTLY = /^[^:\n]*\bexactly\s+(?:this|the following)\b[^:\n]*:/i;
const LIST_MARK = /^\s*(1[.)]|[-*•])(?=\s)/;
const ENDS_IN_FENCE = /:\s*\n\s*(?:```(?:(?!```)[\s\S])*```|"""(?:(?!""")[\s\S])*""")$/;
const RUN = new RegExp(`^${POLITE}(?:run|execute|exec)\\b`, "i");
const PRONOUN = /\b(it|that file|this file|the file|the same file|its|them)\b/i;
/** "Make a todo list and work it off" means its own list, whatever came before. */
const OWN_LIST = /\b(?:to-?do[- ]list|task list|check ?list|plan)\b.{0,80}\b(?:it|them)\b/i;
const LIST_MADE = /\b(?:to[- ]?do[- ]list|task list|check ?list|plan)\b/i;
const WORK_OFF = /\b(?:execute|carry|work|complete|follow|go through|do)\s+(?:it|them)\b/i;
const KEEP_THAT = new RegExp(`^(${POLITE}(?:remember|memorize))\\s+(?:that|this|it)[.!]*$`, "i");
const MADE_FOLDER = new RegExp(`^${POLITE}(?:create|make|add)\\b.*\\b(?:folder|directory)\\b`, "i");
/** The name in it is that of the other place: "copy it to b.txt". */
const MOVE_IT = new RegExp(`^${POLITE}(?:copy|move|rename|duplicate)\\s+(?:it|that file|the file|this file)\\s`, "i");
/** "tell me if it failed": that is told anyway, and "it" is what was done. */
const ASKS_HOW =
  /^(?:and\s+)?(?:tell|let|show)\s+me\b.*\b(?:if|whether)\s+(?:it|that|this)\s+(?:failed|fails|worked|works|succeeded|passed|ran)\b/i;
const RENAMES = new RegExp(`^${POLITE}(?:rename|move)\\b`, "i");
const MOVES = new RegExp(`^${POLITE}(?:copy|move|rename|duplicate)\\b`, "i");
const IN_IT = /(?:^|\s+)(?:in|into|inside)\s+(?:it|there|that (?:folder|directory))\b/i;
const LEADING_VERB = new RegExp(
  `^${POLITE}(run|execute|read|open|show|print|display|view|create|make|write|save|put|add|append|delete|remove|rename|move|copy)\\b`,
  "i",
);
const PRONOUN_FIRST = /^(?:it|they|them|this|that)\b/i;
const WITHOUT_VERB = new RegExp(
  `^(?:${PATH}|\\uE000\\d+\\uE001|${LINE_OF}|${FOLDER}|(?:\\S+\\s+){1,5}?(?:to|into|in)\\s+${PATH})`,
  "iu",
);

export interface Reader {
  isInstruction(part: string): boolean;
  /** Whether what comes after an "and" belongs to it still: "ask bob to list and read", "don't list and read". */
  reachesOver(part: string): boolean;
}

/** Cuts a request into instructions, in order. A part that says nothing of its own belongs to the one before it. */
export function splitInstructions(request: string, reader: Reader): string[] {
  const { text, reveal } = mask(request);
  const boundaries = boundariesIn(text, reveal);
  const parts: string[] = [];
  const spellOut = (from: number, to: number, before: readonly string[]) =>
    withVerb(text.slice(from, to).trim(), withReferent(reveal(text.slice(from, to)).trim(), before), before, reader);
  const [lead = "", first] = LIST_MARK.exec(text) ?? [];
  let from = lead.length;
  let item = first;
  for (const [index, boundary] of boundaries.entries()) {
    const { at, end, kind, strong, mark } = boundary;
    const before = spellOut(from, at, parts);
    if (isHeading(before, reader)) {
      from = end;
      item = mark;
      continue;
    }
    if (!endsAt(boundary, before, item, reader)) continue;
    // In a command a semicolon is the shell's.
    if (text[at] === ";" && RUN.test(before) && STARTS_PROGRAM.test(text.slice(end))) continue;
    const next = boundaries[index + 1]?.at ?? text.length;
    const begins = () =>
      reader.isInstruction(spellOut(end, next, [...parts, before])) ||
      (text.length - end < MAX_SENTENCE && reader.isInstruction(spellOut(end, text.length, [...parts, before])));
    if (!(strong || isBeside(boundary, item) || begins())) continue;
    parts.push(before);
    from = end;
    item = kind === "line" ? mark : undefined;
  }
  parts.push(spellOut(from, text.length, parts));
  return parts.filter(Boolean);
}

/** "Do the following:" says nothing itself. */
function isHeading(before: string, reader: Reader): boolean {
  return /^[^:]*:$/.test(before) && !COMMAND.test(before) && !reader.isInstruction(before);
}

/** What stands beside an order in a list is to be one as well, understood or not. */
function isBeside({ mark }: Boundary, item: string | undefined): boolean {
  return mark !== undefined && mark === item;
}

function endsAt(boundary: Boundary, before: string, item: string | undefined, reader: Reader): boolean {
  const isNext = isBeside(boundary, item);
  const endsContent = isNext && item !== undefined && /\d/.test(item) && !/\n\s*\d+[.)]\s/.test(before);
  if (before === "" || (!endsContent && !mayEnd(before, boundary.kind, reader))) return false;
  return isNext || boundary.kind === "sentence" || reader.isInstruction(before);
}

function mayEnd(before: string, kind: Kind, reader: Reader): boolean {
  if (LISTED_COMMANDS.test(before)) return kind === "ordered";
  // What follows a colon at a line's end is its content, however much it reads like instructions; a fence ends it.
  if (before === "" || (/:\s*(?:\n|$)/.test(before) && !ENDS_IN_FENCE.test(before))) return false;
  if (EXACTLY.test(before)) return false;
  if (COMMAND.test(before)) return kind === "ordered" || kind === "sentence";
  return kind !== "soft" || !reader.reachesOver(before);
}

interface Boundary {
  readonly at: number;
  readonly end: number;
  readonly kind: Kind;
  /** A sentence that begins with "then" is a new instruction, understood or not. */
  readonly strong: boolean;
  /** What stands before an item of a list: a number or a sign. */
  readonly mark: string | undefined;
}

function boundariesIn(text: string, reveal: (part: string) => string): Boundary[] {
  const all = BOUNDARIES.flatMap(([kind, pattern]) =>
    [...text.matchAll(pattern)]
      .filter((match) => isBoundary(match, text) && !isBeforeFence(match, text, reveal))
      .map((match) => ({
        at: match.index,
        end: match.index + match[0].length,
        kind,
        strong: kind === "ordered" && /^[.;!\n]/.test(match[0]),
        mark: /\n\s*(\S+)/.exec(match[0])?.[1]?.replace(/\d+/, "1"),
      })),
  )
    .sort((a, b) => a.at - b.at || b.end - a.end)
    .slice(0, MAX_BOUNDARIES * 2);
  const apart = all.filter((boundary, index) => !all.slice(0, index).some((other) => other.end > boundary.at));
  return apart.slice(0, MAX_BOUNDARIES);
}

function isBoundary(match: RegExpExecArray, text: string): boolean {
  const number = /^ *(\d+)[.)]/.exec(match[0])?.[1];
  return number === undefined || isListItem(Number(number), text.slice(0, match.index));
}

/** What stands in a fence belongs to what was said before it. */
function isBeforeFence(match: RegExpExecArray, text: string, reveal: (part: string) => string): boolean {
  const hidden = new RegExp(`^${QUOTED}`).exec(text.slice(match.index + match[0].length))?.[0];
  return hidden !== undefined && isFenced(reveal(hidden));
}

/** "1. list the files 2. read a.txt" goes on with its number; "create a.txt with content 1. Then …" ends with one. */
function isListItem(number: number, before: string): boolean {
  if (number === 1) return /(?:^|[:;.,!\n]|\b(?:do|steps?|following|these|this|tasks?|things?))\s*$/i.test(before);
  const previous = [...before.matchAll(new RegExp(`(?:^|\\s)${number - 1}[.)]\\s`, "g"))];
  return previous.some(({ index }) => isListItem(number - 1, before.slice(0, index)));
}

/** Which file "it" is after an instruction: what was renamed is there under its new name only. */
function pathAfter(instruction: string): string | undefined {
  const path = findPath(instruction);
  if (path === undefined || !RENAMES.test(instruction)) return path;
  return findPath(instruction.replace(path, " ")) ?? path;
}

/** "read it back" after "create a.txt" means a.txt. */
export function withReferent(part: string, before: readonly string[]): string {
  const last = before.at(-1) ?? "";
  if (ASKS_HOW.test(part)) return part;
  if (OWN_LIST.test(part) || (LIST_MADE.test(last) && PRONOUN.test(part) && WORK_OFF.test(part))) return part;
  if (last && KEEP_THAT.test(part)) return part.replace(KEEP_THAT, (_, verb: string) => `${verb} ${last}`);
  const placed = placedIn(last, part);
  if (placed !== undefined) return placed;
  if ((findPath(part) !== undefined && !MOVE_IT.test(part)) || !PRONOUN.test(part)) return part;
  const path = before.map(pathAfter).findLast((found) => found !== undefined);
  return path === undefined ? part : part.replace(PRONOUN, path);
}

/** "put a.txt in it" after "create a folder docs" */
function placedIn(last: string, part: string): string | undefined {
  const folder = IN_IT.test(part) && MADE_FOLDER.test(last) ? findPath(last) : undefined;
  if (folder === undefined) return undefined;
  return MOVES.test(part) ? part.replace(IN_IT, ` into ${folder}/`) : inFolder(part.replace(IN_IT, "").trim(), folder);
}

/** "`b`" after "run `a`" is to be run too, "b.txt" after "read a.txt" to be read. */
function withVerb(said: string, part: string, before: readonly string[], { isInstruction }: Reader): string {
  const verb = LEADING_VERB.exec(before.at(-1) ?? "")?.[1];
  if (verb === undefined || part === "" || part.length > MAX_SENTENCE || isInstruction(part)) return part;
  const isOther = !/run|execute/i.test(verb) && !WITHOUT_VERB.test(mask(part).text);
  // "Save this to a.txt: the fox; it jumps" goes on with what is to be saved.
  if (isOther || PRONOUN_FIRST.test(said)) return part;
  return isInstruction(`${verb} ${part}`) ? `${verb} ${part}` : part;
}
