import ignore, { type Ignore } from "ignore";
import { toText } from "./held-folder.ts";

/** The rules of a folder's `.gitignore` and of those above it. The same object as long as they say the same. */
export interface IgnoreRules {
  readonly above: IgnoreRules | undefined;
  /** The folder's path from the root with a slash at its end; empty for the root. */
  readonly prefix: string;
  readonly text: string;
  readonly matcher: Ignore;
}

export function ignoreRules(above: IgnoreRules | undefined, prefix: string, text: string): IgnoreRules {
  return { above, prefix, text, matcher: ignore({ allowRelativePaths: true }).add(text) };
}

/** The nearest `.gitignore` that has something to say about the path decides, as git does it. */
export function isIgnored(rules: IgnoreRules | undefined, path: string): boolean {
  for (let at = rules; at; at = at.above) {
    const { ignored, unignored } = at.matcher.test(toText(path.slice(at.prefix.length)));
    if (unignored) return false;
    if (ignored && !isFolderIgnored(at, path)) return true;
  }
  return false;
}

/** A path is only asked for below folders that count. What ignores its folder was overruled there, and says no more. */
function isFolderIgnored({ prefix, matcher }: IgnoreRules, path: string): boolean {
  const folder = path.slice(prefix.length, path.lastIndexOf("/", path.length - 2) + 1);
  return folder !== "" && matcher.ignores(toText(folder));
}
