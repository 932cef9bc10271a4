import { posix } from "node:path";
import { readContent } from "./file-content.ts";
import { type Schema, wordsOf } from "./offline-tool.ts";
import { CLOSING, dropEnd, literal, OPENING, unquote } from "./phrase.ts";
import type { Turn } from "./turn.ts";
import { findPath, toToolPath, workingDirectory } from "./workspace-path.ts";

/** The words an argument may be taken from. Each quote and number is used once. */
export interface Source {
  readonly text: string;
  /** What is left of the instruction without the tool's name and the words around it. */
  rest: string;
  readonly turn: Turn;
  readonly quotes: string[];
  readonly numbers: number[];
  /** How many required arguments share what is left. */
  wanted: number;
  readonly optional: readonly string[];
  /** Whether they are about something with a name, such as a file, which is then apart from what it holds. */
  readonly isOfNamed: boolean;
  /** Whether it is an answer that is filled, from all that was said, rather than a call. */
  readonly isAnswer: boolean;
  /** Names that no word was found for. */
  readonly guessed: string[];
  /** Optional arguments that turned up on the way: "find TODO in src" has a place too. */
  found?: Record<string, unknown>;
}

const URL_PATTERN = /\bhttps?:\/\/[^\s"'`<>]+[^\s"'`<>.,;:!?)]/;
export const E_MAIL = /[\w.+-]+@[\w-]+\.[\w.-]*\w/g;
const SHAPES: readonly (readonly [RegExp, RegExp])[] = [
  [/phone|mobile|^tel\b/, /\+?\d[\d ()/-]{4,}\d/],
  [/ur[li]|link|website|page|address/, URL_PATTERN],
  [/e.?mail|recipient|^to$|address/, /[\w.+-]+@[\w-]+\.[\w.-]*\w/],
  [/^repo(?:sitory)?\b/, /(?<![\w/.-])[\w.-]+\/[\w.-]*\w/],
  [/date|day|when/, /\b\d{4}-\d{2}-\d{2}\b/],
];
const PATH_NAME = /path|file|dir|folder/;
/** "all *.ts files": the pattern among the words for it. */
const GLOB = /^(?:(?:all|every|any|the|files?|matching|named|like)\s+)+(\S*\*\S*)(?:\s+files?)?$/i;
const PLACE =
  /\s+(?:in|inside|under|within|below)\s+(?:the\s+)?(?:files?\s+(?:of|in)\s+)?(?:folder\s+|directory\s+|file\s+)?([\w@./-]+|["'`][^"'`]+["'`])(?:\s+(?:folder|directory))?$/i;

/** Words for a text argument: by its shape, by what stands next to its name, quoted, or simply what is left. */
export function fillText(name: string, schema: Schema, source: Source): string {
  const key = wordsOf(name).join(" ");
  for (const [names, shape] of SHAPES) {
    const found = names.test(key) || schema.format === "uri" ? shape.exec(source.text)?.[0] : undefined;
    if (found) {
      source.rest = source.rest.replace(new RegExp(`(?:\\b(?:on|at|to|for|in)\\s+)?${literal(found)}`), "");
      return found;
    }
  }
  if (PATH_NAME.test(key)) return fillPath(key, schema, source);
  source.rest = dropPlace(source);
  return (
    contentOf(key, source) ??
    nameOf(key, source) ??
    nearText(name, source) ??
    takeQuote(source) ??
    keyOf(key, source) ??
    takeRest(key, source)
  );
}

/** "an artifact summary with …": the name stands between what it is and what it holds. */
const BARE_NAME = /\b(?:an?|the)\s+(?:new\s+)?\w+\s+([\w-]+)\s+(?:with|containing|saying|that says)\b/i;

/** "save hello as report.md" */
function nameOf(key: string, { text, quotes }: Source): string | undefined {
  if (!/^(?:file )?name$/.test(key)) return undefined;
  const path = findPath(text);
  if (path !== undefined) return quotes.includes(path) ? undefined : path;
  return quotes.length === 0 ? BARE_NAME.exec(text)?.[1] : undefined;
}

function contentOf(key: string, { text, isOfNamed }: Source): string | undefined {
  return isOfNamed && /^(?:content|text|body)$/.test(key) ? readContent(text, findPath(text)) : undefined;
}

/** "Remember that my favourite colour is blue" has no name of its own: one is made of its first words. */
function keyOf(key: string, { rest }: Source): string | undefined {
  if (!/^(?:key|slug)$/.test(key)) return undefined;
  return (
    wordsOf(rest)
      .slice(0, 4)
      .join("-")
      .replace(/-(?:is|are|was)$|(?<=^my-.+)-(?:is|are|was)-.*$/, "") || undefined
  );
}

function fillPath(key: string, schema: Schema, source: Source): string {
  const { text, turn, quotes } = source;
  const path = findPath(text);
  if (path === undefined) return /dir|folder|^path$/.test(key) ? workingDirectory(turn) : "";
  const at = quotes.indexOf(path);
  if (at !== -1) quotes.splice(at, 1);
  source.rest = source.rest
    .replace(path, "")
    .trim()
    .replace(/^(?:to|and|by)\s+(?:replac(?:e|ing)\s+|chang(?:e|ing)\s+)?/i, "");
  return toToolPath(path, schema, turn);
}

/** `the city of Paris`, `language French`: a value that stands next to its name. */
function nearText(name: string, source: Source): string | undefined {
  const words = wordsOf(name).join("[\\s_-]");
  const near = new RegExp(
    `\\b${words}\\s+(?:of\\s+|to\\s+|named\\s+|called\\s+)?(["'\`][^"'\`]+["'\`]|[A-Z0-9][\\w-]*(?:\\s+[A-Z][\\w-]*)*)`,
  ).exec(source.text);
  if (!near?.[1]) return undefined;
  const value = unquote(near[1]);
  const at = source.quotes.indexOf(value);
  if (at !== -1) source.quotes.splice(at, 1);
  return value;
}

/** A quote that was taken is no part of what is left. */
function takeQuote(source: Source): string | undefined {
  const quote = source.quotes.shift();
  if (quote === undefined) return undefined;
  const shown = new RegExp(`[${OPENING}]${literal(quote)}[${CLOSING}]\\s*`, "u");
  source.rest = source.rest.replace(shown, "").replace(/^(?:and|to|into|as|with|from|in|on|for)\s+/i, "");
  return quote;
}

/** "Tell me about Rome, which has …": what has a name of its own is told by it, what is a text by all of it. */
const PROPER_NAME = /(?<=[\p{L}\d,]\s)(\p{Lu}[\p{L}'’-]+(?:\s\p{Lu}[\p{L}'’-]+)*)/u;
const WHOLE_TEXT =
  /^(?:.*\s)?(?:answer|reply|response|text|message|summary|description|content|body|reason|reasoning|explanation|comment|note|question|query|result|output|report)$/;

/** The last one gets all that is left; the others a piece up to the next little word. */
function takeRest(key: string, source: Source): string {
  const rest = dropEnd(source.rest);
  if (source.isAnswer) return (WHOLE_TEXT.test(key) ? undefined : PROPER_NAME.exec(rest)?.[1]) ?? unquote(rest);
  // Nothing of it was understood: the sentence itself is not what is to be kept.
  if (source.isOfNamed && rest === dropEnd(source.text)) return "";
  if (source.wanted <= 1) return GLOB.exec(rest)?.[1] ?? unquote(rest);
  const cut = /\s*[,;]\s+|\s+(?:and|to|into|as|with|from|in|on|for)\s+/.exec(rest);
  source.rest = cut ? rest.slice(cut.index + cut[0].length) : "";
  return unquote(dropEnd(cut ? rest.slice(0, cut.index) : rest));
}

function dropPlace(source: Source): string {
  const rest = dropEnd(source.rest);
  const name = source.optional.find((optional) => PATH_NAME.test(optional));
  const place = name ? PLACE.exec(rest) : null;
  if (!name || !place?.[1]) return rest;
  const path = unquote(place[1]);
  if (
    !/^(all|every|the|this|these|here|it|files?|code|codebase|project|repo|repository|workspace|directory|folder|any)$/i.test(
      path,
    )
  ) {
    source.found = { ...source.found, ...placeArguments(name, path, source) };
  }
  return rest.slice(0, place.index);
}

/** A tool that searches folders is told a file by its name. */
function placeArguments(name: string, path: string, { optional, turn }: Source): Record<string, string> {
  const absolute = (place: string) => toToolPath(place, { description: "absolute" }, turn);
  if (!optional.includes("glob") || !/\w\.\w+$/.test(path)) return { [name]: absolute(path) };
  return { [name]: absolute(posix.dirname(path)), glob: posix.basename(path) };
}
