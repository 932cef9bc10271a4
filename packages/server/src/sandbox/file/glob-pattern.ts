import { AppError } from "@cognition/contract";

const MAX_PATTERN_LENGTH = 1_000;
/** Each pair of braces multiplies the rest: {a,b}{a,b}… would fill the memory. */
const MAX_ALTERNATIVES = 256;

/** A name's characters, one test each; `*` for any number of them. */
type NamePattern = readonly ("*" | ((char: string) => boolean))[];
type PartPattern = "**" | NamePattern;

/**
 * Tells whether a relative path matches. Without a slash the pattern is for names at any depth. Matching takes no more than
 * pattern × path steps: the patterns come from models, and as regular expressions a few stars could take hours.
 */
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

function matchParts(pattern: readonly PartPattern[], parts: readonly string[]): boolean {
  let reach = [true, ...parts.map(() => false)];
  for (const part of pattern) {
    const next: boolean[] = [];
    for (let at = 0; at <= parts.length; at++) {
      if (part === "**") next[at] = reach[at] === true || (at > 0 && next[at - 1] === true);
      else next[at] = at > 0 && reach[at - 1] === true && matchName(part, parts[at - 1] ?? "");
    }
    reach = next;
  }
  return reach[parts.length] === true;
}

/** On a mismatch only the last star takes one character more: an earlier one could not do better. */
function matchName(pattern: NamePattern, name: string): boolean {
  const chars = [...name];
  let [at, inPattern] = [0, 0];
  let star: { at: number; inPattern: number } | undefined;
  while (at < chars.length) {
    const token = pattern[inPattern];
    if (token === "*") {
      star = { at, inPattern: ++inPattern };
    } else if (token?.(chars[at] ?? "")) {
      at++;
      inPattern++;
    } else if (star) {
      at = ++star.at;
      inPattern = star.inPattern;
    } else {
      return false;
    }
  }
  return pattern.slice(inPattern).every((token) => token === "*");
}

function compileName(name: string): NamePattern {
  const tokens = name.match(/\*+|\[[!^]?\]?[^\]]*\]|[\s\S]/gu) ?? [];
  return tokens.map((token) => {
    if (token.startsWith("*")) return "*";
    if (token === "?") return () => true;
    if (token.startsWith("[") && token.length > 2) return compileClass(token);
    return (char) => char === token;
  });
}

function compileClass(token: string): (char: string) => boolean {
  const negated = token[1] === "!" || token[1] === "^";
  const ranges = token.slice(negated ? 2 : 1, -1).match(/[\s\S]-[\s\S]|[\s\S]/gu) ?? [];
  return (char) => {
    const inside = ranges.some((range) => {
      const [from = "", , to = from] = [...range];
      return from <= char && char <= to;
    });
    return inside !== negated;
  };
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
