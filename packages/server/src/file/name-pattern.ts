/** What one name may be. */
export type NamePattern = (name: string) => boolean;
/** One part of a path; `**` for any number of them. */
export type PartPattern = "**" | NamePattern;

type Token = "*" | ((char: string) => boolean);

/**
 * What a pattern's characters are one by one; with escapes, a backslash takes the next one as it is. A class has an end to its
 * length: of many brackets that nobody closes, each would be followed to the end of the text.
 */
const TOKENS = new RegExp(String.raw`\*+|${classOf(String.raw`\[:\w{1,10}:\]|[^\]]`)}|[\s\S]`, "gu");
const ESCAPING_TOKENS = new RegExp(
  String.raw`\\[\s\S]|\*+|${classOf(String.raw`\[:\w{1,10}:\]|\\[\s\S]|[^\]\\]`)}|[\s\S]`,
  "gu",
);
const SPECIAL = /[*?[\\]/;

/** A bracket that stands first belongs to the class, and does not end it. */
function classOf(item: string): string {
  return String.raw`\[(?:[!^]|(?![!^]))(?:\]|${item})(?:${item}){0,255}\]`;
}

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
  if (text.startsWith("[") && text.length > 1) return compileClass(text, escapes);
  // As git has it: a class that nobody closes, and a backslash with nothing to take, match no name.
  if (escapes && (text === "[" || text === "\\")) return () => false;
  const char = escapes ? unescaped(text) : text;
  return (each) => each === char;
}

const NAMED: Readonly<Record<string, RegExp>> = {
  alnum: /[a-z0-9]/i,
  alpha: /[a-z]/i,
  blank: /[ \t]/,
  cntrl: /[^ -~\u0080-\u{10ffff}]/u,
  digit: /[0-9]/,
  graph: /[!-~]/,
  lower: /[a-z]/,
  print: /[ -~]/,
  punct: /[!-/:-@[-`{-~]/,
  space: /[ \t-\r]/,
  upper: /[A-Z]/,
  xdigit: /[0-9a-f]/i,
};
const ITEMS = /\[:(\w+):\]|([\s\S])-([\s\S])|[\s\S]/gu;
const ESCAPING_ITEMS = /\[:(\w+):\]|(\\?[\s\S])-(\\?[\s\S])|\\?[\s\S]/gu;

function compileClass(token: string, escapes: boolean): (char: string) => boolean {
  const negated = token[1] === "!" || token[1] === "^";
  const plain = escapes ? unescaped : (text: string) => text;
  const items = [...token.slice(negated ? 2 : 1, -1).matchAll(escapes ? ESCAPING_ITEMS : ITEMS)];
  if (items.some(([, name]) => name !== undefined && !Object.hasOwn(NAMED, name))) return () => false;
  return (char) => {
    const inside = items.some(([item, name, first, last]) => {
      if (name !== undefined) return NAMED[name]?.test(char);
      const from = plain(first ?? item);
      return char === from || (last !== undefined && from <= char && char <= plain(last));
    });
    return inside !== negated;
  };
}

function unescaped(text: string): string {
  return text.length > 1 && text.startsWith("\\") ? text.slice(1) : text;
}
