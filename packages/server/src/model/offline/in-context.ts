import { firstVerb } from "./first-verb.ts";
import { mask, POLITE } from "./phrase.ts";
import { type Step, say } from "./step.ts";
import type { Turn } from "./turn.ts";
import { findFolder, findPath, inFolder } from "./workspace-path.ts";

const AGAIN = new RegExp(
  `^\\s*${POLITE}(?:(?:(?:do|run|try|repeat|execute|say)\\s+)?(?:(?:it|that|this|the same)\\s+)?(?:again|once more|one more time|another time)|repeat (?:it|that|this))(?:,?\\s+please)?\\s*[.!]*$`,
  "i",
);
const UNDO = new RegExp(
  `^\\s*${POLITE}(?:undo|revert|restore|roll back|take back)(?:\\s+(?:it|that|this|the last (?:change|step)))?\\s*[.!]*$`,
  "i",
);
const AND_THAT =
  /^\s*(?:and|what about|how about|now|also|(?:the )?same (?:for|with))\s+(\S+?)(?:,?\s+(?:too|as well|please))?\s*[?.!]*$/i;
const DO_THE_SAME = new RegExp(
  `^\\s*(?:and\\s+)?${POLITE}do\\s+(?:exactly\\s+)?the\\s+same(?:\\s+thing)?\\s+(?:for|with|to|on)\\s+(\\S+?)(?:,?\\s+(?:too|as well|please))?\\s*[?.!]*$`,
  "i",
);
const ONE = /\b(?:it|that file|this file|the file|the same file|its)\b/i;
const ALL =
  /\b(?:both(?: of (?:them|these|those))?|them(?: both| all)?|all of them|these files|those files|the (?:two|three) files)\b/i;
/** "it" in these is what was asked for, not what it was about. */
const OF_THE_ORDER =
  /^\s*(?:\S+\s+)?(?:do|work|carry|finish|complete|say|tell|stop|forget|leave|keep|make(?!\s+it\s+(?:say|read|contain|hold)\b)|get|remember|that(?:'s| is)|is|was)\s+it\b/i;
const MOVES = new RegExp(`^\\s*(?:(?:and|then)\\s+)*${POLITE}(?:rename|move|copy|duplicate)\\b`, "i");
/** Their names are no files. */
const OTHER_THINGS = /\bartifacts?\b/i;
const MAX_BACK = 5;
const MAX_PATHS = 10;
const MAX_MESSAGE = 2_000;

/** The turn as it would read on its own: what only the messages before it tell is put in. Or what to say to it. */
export function inContext(turn: Turn): Turn | readonly Step[] {
  const { request } = turn;
  if (request.length > MAX_MESSAGE) return turn;
  if (UNDO.test(request))
    return say(
      "I can't undo anything, but the session can be put back to an earlier point, with its files: `cognition rewind`, or POST /sessions/{id}/rewind.",
    );
  const earlier = turn.earlier.filter((text) => !AGAIN.test(text) && text.length <= MAX_MESSAGE);
  if (AGAIN.test(request)) {
    const last = earlier.at(-1);
    return last === undefined ? say("There is nothing that I could do again.") : { ...turn, request: last };
  }
  const meant = [alike, thereMeant, referred, implied].reduce<string | undefined>(
    (found, look) => found ?? look(request, earlier),
    undefined,
  );
  return { ...turn, request: meant ?? request };
}

const THERE = /\s+(?:in(?:side)?|from|of)\s+(?:there|that (?:folder|directory))\b/i;

/** "read app.py in there" after "list the files in src" */
function thereMeant(request: string, earlier: readonly string[]): string | undefined {
  const last = earlier.at(-1) ?? "";
  const [path, ...others] = pathsIn(last);
  const folder = path === undefined ? findFolder(last) : path.endsWith("/") ? path : undefined;
  if (!THERE.test(request) || folder === undefined || others.length > 0) return undefined;
  return findPath(request) === undefined
    ? request.replace(THERE, ` in ${folder}/`)
    : inFolder(request.replace(THERE, ""), folder);
}

const EDITS = new RegExp(
  `^\\s*(?:(?:and|then)\\s+)*(${POLITE}(?:replace|change|append|prepend|insert)\\s+\\S[\\s\\S]*)$`,
  "i",
);

/** "now replace x with y" after "create a.txt": the file that was just spoken of, if it was one. */
function implied(request: string, earlier: readonly string[]): string | undefined {
  const edit = EDITS.exec(request)?.[1];
  const [path, ...others] = pathsIn(earlier.at(-1) ?? "");
  if (!edit || findPath(request) !== undefined || !path || others.length > 0) return undefined;
  return `In ${/\s/.test(path) ? `"${path}"` : path}, ${edit.replace(/^(?:now|also|then)\s+/i, "")}`;
}

/** "and b.txt?" after "read a.txt" */
function alike(request: string, earlier: readonly string[]): string | undefined {
  const same = DO_THE_SAME.exec(request)?.[1];
  const other = same ?? AND_THAT.exec(request)?.[1];
  const last = earlier.at(-1) ?? "";
  const [path, ...others] = pathsIn(last);
  const isLooking = same !== undefined || firstVerb(last) === "look" || /^\s*(?:what|how|is|does)\b/i.test(last);
  if (!other || findPath(other) === undefined || !path || others.length > 0 || !isLooking) return undefined;
  return last.includes(path) ? last.replace(path, () => other) : undefined;
}

/** "delete it" after "create a.txt" means a.txt. Of several files, none is meant more than another. */
function referred(request: string, earlier: readonly string[]): string | undefined {
  const { text, reveal } = mask(request);
  const hasOwn = findPath(request) !== undefined && !MOVES.test(request);
  const word = ALL.test(text) ? ALL : ONE.test(text) ? ONE : undefined;
  if (hasOwn || word === undefined || OF_THE_ORDER.test(text)) return undefined;
  const told = earlier.slice(-MAX_BACK).findLast((message) => pathsIn(message).length > 0);
  if (told === undefined || OTHER_THINGS.test(told)) return undefined;
  const paths = MOVES.test(told) ? pathsIn(told).slice(-1) : pathsIn(told);
  if (word === ONE && paths.length > 1) return undefined;
  const names = paths.map(asWritten).join(" and ");
  return reveal(text.replace(word, () => names));
}

/** Of a name with a quote in it only the end would be read, and another file be meant. */
function asWritten(path: string): string {
  return /[^\p{L}\p{M}\p{N}_@~./-]/u.test(path) ? `"${path.replace(/["\\]/g, "\\$&")}"` : path;
}

function pathsIn(message: string): string[] {
  const paths: string[] = [];
  let rest = message;
  for (let path = findPath(rest); path?.trim() && paths.length < MAX_PATHS; path = findPath(rest)) {
    if (!paths.includes(path)) paths.push(path);
    const left = rest.replaceAll(path, " ");
    // A name with escapes in it stands there otherwise: it would be found again for ever.
    if (left === rest) break;
    rest = left;
  }
  return paths;
}
