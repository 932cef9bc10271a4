import { posix } from "node:path";
import type { Schema } from "./offline-tool.ts";
import { literal, unquote } from "./phrase.ts";
import type { Turn } from "./turn.ts";

const WORD_WITH_EXTENSION =
  /(?<![\w/@.-])(?:~|\.{0,2})?\/?(?:[\w@.-]+\/)*[\w@-]*(?:[\w-]\.)+[A-Za-z][\w]{0,9}(?![\w/@])/;
const WITH_SLASH = /(?<![\w:/])(?:\.{0,2}\/)?(?:[\w@.-]+\/)+[\w@.-]*(?![\w/])|(?<![\w:/])\/[\w@.-]+(?![\w/])/;
const NAMED = /\b(?:named|called|titled|as|file|folder|directory|path)\s+(["'“`][^"'”`]+["'”`]|[\w@./-]+)/i;
const NOT_A_NAME =
  /^(in|at|from|and|with|containing|that|which|to|the|a|an|named|called|is|here|there|this|of|for|it|into|system|contents?|back)$/i;
/** Files that are usually spoken of without an extension. */
const BARE = /(?<![\w.])(README|LICENSE|Makefile|Dockerfile|CHANGELOG|AGENTS|TODO|\.gitignore|\.env)(?![\w.])/;

/** The file or folder that a text speaks of, as it was written. */
export function findPath(text: string): string | undefined {
  const quoted = [...text.matchAll(/["'“`]([^"'”`\n]+)["'”`]/g)].map((match) => match[1] ?? "");
  const quotedPath = quoted.find((part) => /^[^\s]+$/.test(part) && (/[./]/.test(part) || isNamedBy(text, part)));
  if (quotedPath) return quotedPath;
  const plain = text.replace(/\bhttps?:\/\/\S+/g, " ");
  const found = WORD_WITH_EXTENSION.exec(plain)?.[0] ?? WITH_SLASH.exec(plain)?.[0];
  if (found) return found.replace(/[.,;:!?]+$/, "") || "/";
  return namedFile(plain) ?? BARE.exec(plain)?.[1];
}

function isNamedBy(text: string, part: string): boolean {
  return new RegExp(`\\b(?:named|called|file|folder|directory)\\s+["'“\`]${literal(part)}`, "i").test(text);
}

function namedFile(text: string): string | undefined {
  for (const match of text.matchAll(new RegExp(NAMED, "gi"))) {
    const name = unquote(match[1] ?? "").replace(/[.,;:!?]+$/, "");
    if (name && !NOT_A_NAME.test(name)) return name;
  }
  return undefined;
}

/** The path as the tool wants it: many take absolute ones only, below the working directory that the system prompt names. */
export function toToolPath(path: string, parameter: Schema | undefined, turn: Turn): string {
  const wantsAbsolute = /absolute|default: \/|must start with/i.test(parameter?.description ?? "");
  if (!wantsAbsolute || path.startsWith("/") || path.startsWith("~")) return path;
  return posix.join(workingDirectory(turn), path);
}

export function workingDirectory({ system }: Turn): string {
  const named = /(?:working|current|workspace|root) (?:directory|folder)(?: is| at|:)?[\s:]*[`"']?(\/[^\s`"',]*)/i.exec(
    system,
  );
  return named?.[1]?.replace(/(?<=.)[/.]+$/, "") || "/";
}
