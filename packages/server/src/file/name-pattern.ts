/** What one name may be. */
export type NamePattern = (name: string) => boolean;
/** One part of a path; `**` for any number of them. */
export type PartPattern = "**" | NamePattern;

type Token = "*" | ((char: string) => boolean);

/**
 * What a pattern's characters are one by one; with escapes, a backslash takes the next one as it is. A class has an end to its
 * length: of many brackets that nobody closes, each would be followed to the end of the text.
 */
const TOKENS = /\*+|\[[!^]?\]?[^\]]{0,255}\]|[\s\S]/gu;
const ESCAPING_TOKENS = /\\[\s\S]|\*+|\[[!^]?\]?[^\]]{0,255}\]|[\s\S]/gu;
const SPECIAL = /[*?[\\]/;

/**
 * `*` for any number of characters, `?` for one, `[a-z]`. Takes no more than pattern × name steps: the patterns come from
 * models and from what they write, and as regular expressions a few stars could take hours.
 */
export function compileName(pattern: string, { escapes = false } = {}): NamePattern {
  if (!SPECIAL.test(pattern)) return (name) => name === pattern;
  const tokens = (pattern.match(escapes ? ESCAPING_TOKENS : TOKENS) ?? []).map((text) => compileToken(text, escapes));
  return (name) => matchName(tokens, name);
}

/** No more than pattern × path steps. */
export function matchParts(pattern: readonly PartPattern[], parts: readonly string[]): boolean {
  let reach = [true, ...parts.map(() => false)];
  for (const part of pattern) {
    const next: boolean[] = [];
    for (let at = 0; at <= parts.length; at++) {
      if (part === "**") next[at] = reach[at] === true || (at > 0 && next[at - 1] === true);
      else next[at] = at > 0 && reach[at - 1] === true && part(parts[at - 1] ?? "");
    }
    reach = next;
  }
  return reach[parts.length] === true;
}

/** On a mismatch only the last star takes one character more: an earlier one could not do better. */
function matchName(pattern: readonly Token[], name: string): boolean {
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

function compileToken(text: string, escapes: boolean): Token {
  if (text.startsWith("*")) return "*";
  if (text === "?") return () => true;
  if (text.startsWith("[") && text.length > 2) return compileClass(text);
  const char = escapes && text.length > 1 ? text.slice(1) : text;
  return (each) => each === char;
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
