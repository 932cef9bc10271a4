import { posix } from "node:path";
import type { Schema } from "./offline-tool.ts";
import { literal, mask, OPENING, POLITE, quotedParts, unquote } from "./phrase.ts";
import type { Turn } from "./turn.ts";

// Letters of every script: a file may have any name that its owner can read.
const WORD_WITH_EXTENSION =
  /(?<![\p{L}\p{M}\p{N}\p{Extended_Pictographic}_/@.-])(?:~|\.{0,2})?\/?(?:[\p{L}\p{M}\p{N}_@.-]+\/)*(?:[\p{L}\p{M}\p{N}\p{Extended_Pictographic}_@-]*[\p{L}\p{M}\p{N}\p{Extended_Pictographic}_-]\.)+[A-Za-z][\w]{0,9}(?!\.?[\p{L}\p{N}_/@])/u;
const WITH_SLASH =
  /(?<![\p{L}\p{M}\p{N}_:/.@-])(?:\.{0,2}\/)?(?:[\p{L}\p{M}\p{N}_@.-]+\/)+[\p{L}\p{M}\p{N}_@.-]*(?![\p{L}\p{N}_/])|(?<![\p{L}\p{M}\p{N}_:/])\/[\p{L}\p{M}\p{N}_@.-]+(?![\p{L}\p{N}_/])/u;
const NAMED =
  /\b(?:(?:file|folder|directory|path)\s+)?(?:named|called|titled|as|file|folder|directory|path)\s+(["'“`][^"'”`]+["'”`]|[\p{L}\p{M}\p{N}_@./-]+)/iu;
/** Before a quoted name with spaces in it, which could as well be what is to be written. */
const PLACE_WORD =
  /\b(?:named|called|titled|(?:file)?name|file|folder|directory|path|to|into|in|of|from|delete|remove|erase|read|open|cat|show(?: me)?|view|edit|print|display|create|make|touch|generate|update|modify|what does)\s+(?:the\s+|a\s+|my\s+)?$/i;
const NOT_A_NAME =
  /^(in|at|from|and|with|containing|that|which|to|the|a|an|named|called|is|here|there|this|of|for|it|into|system|contents?|back|listing|tree|names?)$/i;
const SPACED =
  /\b(?:named|called)\s+((?:[\p{L}\p{M}\p{N}_-]+\s+){1,3}[\p{L}\p{M}\p{N}_-]+\.[A-Za-z]\w{0,9})(?![\p{L}\p{N}_/@])/iu;
/** Files that are usually spoken of without an extension. */
const BARE =
  /(?<![\w.])(README|LICENSE|Makefile|Dockerfile|CHANGELOG|AGENTS|(?<=\b(?:file|read|open|cat|show(?: me)?)\s+(?:the\s+)?)TODO|\.gitignore|\.env)(?![\w.])/;

/** Of a person: no file, unless it ends like one. */
const ADDRESS =
  /(?<![\w/@.-])[\w.+-]+@[a-z][\w-]*(?:\.[a-z][\w-]*)*\.(?!(?:txt|md|json|ya?ml|csv|log|png|jpe?g|svg|[cm]?[jt]sx?|py|sh)\b)[a-z]{2,}(?![\w/@])/gi;

/** The file or folder that a text speaks of, as it was written. */
export function findPath(text: string): string | undefined {
  const quoted = quotedParts(text);
  const plain = text.replace(/\bhttps?:\/\/\S+/g, " ").replace(ADDRESS, " ");
  return (
    quoted.find((part) => isNamedBy(text, part) || isQuotedFile(text, part)) ??
    spacedFile(plain) ??
    // What is quoted is rather the content: "write 'see a.txt' to b.txt" speaks of b.txt.
    plainFile(mask(plain).text) ??
    quoted.find((part) => /^\S*[\w/]$/.test(part) && /[./]/.test(part)) ??
    // Of "my notes.txt" the end alone would be another file.
    quoted.find((part) => /^[^\n]+\.[A-Za-z]\w{0,9}$/.test(part)) ??
    plainFile(plain) ??
    namedFile(plain) ??
    BARE.exec(plain)?.[1]
  );
}

function plainFile(words: string): string | undefined {
  const found = WORD_WITH_EXTENSION.exec(words)?.[0] ?? WITH_SLASH.exec(words)?.[0];
  return found && (found.replace(/[.,;:!?]+$/, "") || "/");
}

/** "called old notes.txt", where "notes.txt" would be another file. */
function spacedFile(text: string): string | undefined {
  const name = SPACED.exec(text)?.[1];
  return name?.split(/\s+/).some((word) => NOT_A_NAME.test(word)) ? undefined : name;
}

/** "my notes.txt", where a place is spoken of: taken for notes.txt it would be another file. */
function isQuotedFile(text: string, part: string): boolean {
  const before = text.slice(0, text.indexOf(part)).trimEnd();
  return /\.[A-Za-z]\w{0,9}$/.test(part) && PLACE_WORD.test(before.slice(0, -1));
}

function isNamedBy(text: string, part: string): boolean {
  return new RegExp(
    `\\b(?:named|called|(?:file)?name|file|folder|directory)\\s+[${OPENING}]\\s?${literal(part)}`,
    "i",
  ).test(text);
}

function namedFile(text: string): string | undefined {
  for (const match of text.matchAll(new RegExp(NAMED, "giu"))) {
    const name = unquote(match[1] ?? "").replace(/[.,;:!?]+$/, "");
    // The rest of a name with odd signs in it would be lost.
    if (/^[:?*<>|=&%$#!~\\]\S/.test(text.slice(match.index + match[0].length))) continue;
    if (name && !NOT_A_NAME.test(name)) return name;
  }
  return undefined;
}

const NO_FOLDER =
  /^(the|this|that|current|working|my|your|a|root|whole|same|project|workspace|here|there|it|home|directory|folder)$/i;
const IN_FOLDER = new RegExp(
  `(${WORD_WITH_EXTENSION.source})["'\`]?\\s+(?:in|inside|into|under|from)\\s+(?:the\\s+|my\\s+)?(?:(?:folder|directory)\\s+)?["'\`]?([\\w.-]+)["'\`]?\\s+(?:folder|directory)\\b`,
  "u",
);

/** Folders that are known by their names, without a word that says so. */
export const USUAL_FOLDER =
  "(?:src|lib|docs?|tests?|app|bin|scripts?|packages|examples?|public|config|build|dist)(?![\\w.-])/?|[\\w@.-]+/[\\w@./-]*";
const IN_USUAL = new RegExp(
  `(${WORD_WITH_EXTENSION.source})["'\`]?\\s+(?:in|inside|into|under|from)\\s+(?:["'\`]?(${USUAL_FOLDER})|(?:the\\s+)?(?:folder|directory)\\s+["'\`]?([\\w./-]*\\w))["'\`]?(?=\\s|[.,!?]*$)`,
  "u",
);
/** Where a name before "in src" may as well be a text to look for. */
const SEARCHES = new RegExp(`^\\s*${POLITE}(?:find|search|look|grep|locate|replace|change|is|are|where)\\b`, "i");
const LOOKS = new RegExp(`^${POLITE}(?:find|search|look|grep|locate|list|show)\\b`, "i");
const FILE_IN = new RegExp(
  `\\b(file\\s+)in\\s+(?:the\\s+)?["'\`]?([\\w./-]+)["'\`]?(?:\\s+(?:folder|directory))?\\s+(?:named|called)\\s+(${WORD_WITH_EXTENSION.source})`,
  "iu",
);
const FOLDER_FIRST = new RegExp(
  `^\\s*in(?:side)?\\s+(?:the\\s+(?:folder|directory)\\s+["'\`]?(?<named>[\\w./-]+)["'\`]?|the\\s+["'\`]?(?<other>[\\w./-]+)["'\`]?\\s+(?:folder|directory)|(?<usual>${USUAL_FOLDER})(?=[\\s,])),?\\s+`,
  "i",
);

/** "move notes.txt into the docs folder" names two places. */
const MOVES = new RegExp(`^\\s*${POLITE}(?:move|copy|rename|duplicate)\\b`, "i");

/** "notes.txt in the docs folder" is docs/notes.txt. */
export function joinFolder(instruction: string): string {
  if (MOVES.test(instruction)) return instruction;
  const first = FOLDER_FIRST.exec(instruction);
  const { named, other, usual } = first?.groups ?? {};
  const folder = named ?? other ?? usual;
  const rest = first === null ? "" : instruction.slice(first[0].length);
  if (folder !== undefined && !NO_FOLDER.test(folder)) {
    if (plainFile(mask(rest).text)) return inFolder(rest, folder);
    if (LOOKS.test(rest)) return `${rest.replace(/[.!?]$/, "")} in the ${folder.replace(/\/+$/, "")} folder`;
  }
  const inUsual = SEARCHES.test(instruction)
    ? instruction
    : instruction.replace(IN_USUAL, (_, path: string, usual: string | undefined, place = "") =>
        posix.join(usual ?? place, path),
      );
  return inUsual
    .replace(IN_FOLDER, (said, path: string, place: string) => (NO_FOLDER.test(place) ? said : `${place}/${path}`))
    .replace(FILE_IN, (said, file: string, place: string, path: string) =>
      NO_FOLDER.test(place) ? said : `${file}${posix.join(place, path)}`,
    );
}

/** The file that a text speaks of is in this folder. */
export function inFolder(text: string, folder: string): string {
  const path = findPath(text);
  return path === undefined || path.startsWith("/") ? text : text.replace(path, posix.join(folder, path));
}

/** "the docs folder", or a plain word after "in". */
export function findFolder(instruction: string): string | undefined {
  const named = /\b(?:the\s+)?["'`]?([\w.-]+)["'`]?\s+(?:folder|directory|dir)\b/i.exec(instruction)?.[1];
  const spaced =
    /\b(?:in(?:side)?|of|under)\s+(?:the\s+)?["'`“]([^"'`”\n]+)["'`”](?:\s+(?:folder|directory))?\s*[.?!]?$/i;
  const plain =
    spaced.exec(instruction)?.[1] ?? named ?? /\bin(?:side)?\s+["'`]?([\w-]+)["'`]?\s*[.?!]?$/i.exec(instruction)?.[1];
  return plain && !NO_FOLDER.test(plain) ? plain : undefined;
}

/** "ls src": a single word where only a place can stand. */
export function folderWord(rest: string): string | undefined {
  return /^[\w-][\w.-]*$/.test(rest) &&
    !NO_FOLDER.test(rest) &&
    !/^(?:all|please|pls|files?|everything|them|those|these|both|out|again)$/i.test(rest)
    ? rest
    : undefined;
}

/** The path as the tool wants it: many take absolute ones only, below the working directory that the system prompt names. */
export function toToolPath(path: string, parameter: Schema | undefined, turn: Turn): string {
  const wantsAbsolute = /absolute|default: \/|must start with/i.test(parameter?.description ?? "");
  if (!wantsAbsolute || path.startsWith("/") || path.startsWith("~")) return path;
  // What would lead out of the workspace is for the tool to refuse: another file is not what was meant.
  return posix.normalize(path).startsWith("../")
    ? `${workingDirectory(turn).replace(/\/$/, "")}/${path}`
    : posix.join(workingDirectory(turn), path);
}

export function workingDirectory({ system }: Turn): string {
  const named = /(?:working|current|workspace|root) (?:directory|folder)(?: is| at|:)?[\s:]*[`"']?(\/[^\s`"',]*)/i.exec(
    system,
  );
  return named?.[1]?.replace(/(?<=.)[/.]+$/, "") || "/";
}
