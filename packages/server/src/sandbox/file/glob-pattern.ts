import { AppError } from "@cognition/contract";
import { compileName, matchParts, type PartPattern } from "../../file/name-pattern.ts";

const MAX_PATTERN_LENGTH = 1_000;
/** Each pair of braces multiplies the rest: {a,b}{a,b}… would fill the memory. */
const MAX_ALTERNATIVES = 256;

/** Tells whether a relative path matches. Without a slash the pattern is for names at any depth. */
export function compileGlob(pattern: string): (path: string) => boolean {
  if (pattern.length > MAX_PATTERN_LENGTH) throw invalid(`is longer than ${MAX_PATTERN_LENGTH} characters`);
  const clean = pattern.replace(/^(\.?\/)+/, "");
  const alternatives = expandBraces(clean).map((each) => compileParts(each.includes("/") ? each : `**/${each}`));
  return (path) => {
    const parts = path.split("/");
    return alternatives.some((alternative) => matchParts(alternative, parts));
  };
}

function compileParts(pattern: string): PartPattern[] {
  const parts = pattern.split("/").filter((part) => part !== "");
  return parts.map((part) => (part === "**" ? part : compileName(part)));
}

function expandBraces(pattern: string): string[] {
  const done: string[] = [];
  const open = [pattern];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const braces = /\{([^{}]*,[^{}]*)\}/.exec(next);
    if (!braces) done.push(next);
    else for (const option of (braces[1] ?? "").split(",")) open.push(replaceAt(next, braces, option));
    if (done.length + open.length > MAX_ALTERNATIVES) throw invalid(`has more than ${MAX_ALTERNATIVES} alternatives`);
  }
  return done;
}

function replaceAt(text: string, match: RegExpExecArray, by: string): string {
  return text.slice(0, match.index) + by + text.slice(match.index + match[0].length);
}

function invalid(reason: string): AppError {
  return new AppError("validation_failed", `The file pattern ${reason}. Nothing was searched.`);
}
