import { compileName, matchParts, type PartPattern } from "../../file/name-pattern.ts";

/** The rules of a folder's `.gitignore` and of those above it. The same object as long as they say the same. */
export interface IgnoreRules {
  readonly above: IgnoreRules | undefined;
  /** The folder's path from the root with a slash at its end; empty for the root. */
  readonly prefix: string;
  readonly text: string;
  /** The last one first: that one decides. */
  readonly rules: readonly Rule[];
}

interface Rule {
  readonly isWanted: boolean;
  readonly foldersOnly: boolean;
  /** Names from the rules' own folder on. */
  readonly matches: (parts: readonly string[]) => boolean;
}

/** Each file is held against each rule, and whoever may write a `.gitignore` must not keep all others waiting for long. */
const MAX_TEXT_LENGTH = 64 * 1024;
const BYTE_ORDER_MARK = /^\u00ef\u00bb\u00bf/;

/** All in bytes, one character each (latin1), as names are. Of a longer text the rules at its beginning count. */
export function ignoreRules(above: IgnoreRules | undefined, prefix: string, text: string): IgnoreRules {
  const lines = text.slice(0, MAX_TEXT_LENGTH).replace(BYTE_ORDER_MARK, "").split("\n");
  if (text.length > MAX_TEXT_LENGTH) lines.pop();
  return { above, prefix, text, rules: lines.flatMap(readRule).reverse() };
}

/**
 * The nearest `.gitignore` that has something to say about the path decides, as git does it. A folder's path ends with a
 * slash; a path is only asked for below folders that count.
 */
export function isIgnored(rules: IgnoreRules | undefined, path: string): boolean {
  const isFolder = path.endsWith("/");
  for (let at = rules; at; at = at.above) {
    const parts = path.slice(at.prefix.length, isFolder ? -1 : undefined).split("/");
    const rule = at.rules.find(({ foldersOnly, matches }) => (isFolder || !foldersOnly) && matches(parts));
    if (rule) return !rule.isWanted;
  }
  return false;
}

function readRule(line: string): Rule[] {
  const text = withoutSpaces(line.endsWith("\r") ? line.slice(0, -1) : line);
  if (text.startsWith("#")) return [];
  const isWanted = text.startsWith("!");
  const foldersOnly = text.endsWith("/");
  const path = text.slice(isWanted ? 1 : 0, foldersOnly ? -1 : undefined);
  const matches = compilePath(path);
  return matches ? [{ isWanted, foldersOnly, matches }] : [];
}

/** A name is for any depth, a path from the rules' own folder on. */
function compilePath(path: string): Rule["matches"] | undefined {
  const names = path.split("/").filter((part) => part !== "");
  if (names.length === 0) return undefined;
  const parts = names.map((part): PartPattern => (part === "**" ? part : compileName(part, { escapes: true })));
  if (!path.includes("/")) {
    const matches = compileName(path, { escapes: true });
    return (of) => matches(of.at(-1) ?? "");
  }
  // At the end they stand for all that is in a folder, and not for the folder.
  if (parts.at(-1) === "**") parts.push(() => true);
  return (of) => matchParts(parts, of);
}

/** One at the end that a backslash is before belongs to the name. */
function withoutSpaces(line: string): string {
  let end = line.length;
  while (line[end - 1] === " " && line[end - 2] !== "\\") end--;
  return line.slice(0, end);
}
