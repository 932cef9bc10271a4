type Path = (string | number)[];

type Level = { kind: "object"; keys: Set<string>; key: string } | { kind: "array"; index: number };

/** More would make the error larger than the request. */
const REPORTED_AT_MOST = 10;

/**
 * Fields that stand more than once in an object of a valid JSON text. `JSON.parse` keeps the last one in silence: two
 * programs that read the same request could see two different ones.
 */
export function findDuplicates(text: string): Path[] {
  const found: Path[] = [];
  const levels: Level[] = [];
  let atKey = false;
  for (let at = 0; at < text.length && found.length < REPORTED_AT_MOST; at++) {
    const char = text[at] as string;
    if (isSpace(char)) continue;
    if (char === '"') {
      const end = endOfString(text, at);
      if (atKey && isRepeated(levels, text.slice(at, end + 1))) found.push(pathOf(levels));
      at = end;
    } else move(levels, char);
    atKey = char === "{" || (char === "," && levels.at(-1)?.kind === "object");
  }
  return found;
}

function isRepeated(levels: Level[], quoted: string): boolean {
  const level = levels.at(-1);
  if (level?.kind !== "object") return false;
  level.key = quoted.includes("\\") ? (JSON.parse(quoted) as string) : quoted.slice(1, -1);
  const repeated = level.keys.has(level.key);
  level.keys.add(level.key);
  return repeated;
}

function move(levels: Level[], char: string): void {
  if (char === "{") levels.push({ kind: "object", keys: new Set(), key: "" });
  else if (char === "[") levels.push({ kind: "array", index: 0 });
  else if (char === "}" || char === "]") levels.pop();
  else if (char === ",") {
    const level = levels.at(-1);
    if (level?.kind === "array") level.index += 1;
  }
}

function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); ; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (text[end - 1 - backslashes] === "\\") backslashes += 1;
    if (backslashes % 2 === 0) return end;
  }
}

function isSpace(char: string): boolean {
  return char === " " || char === "\n" || char === "\r" || char === "\t";
}

function pathOf(levels: readonly Level[]): Path {
  return levels.map((level) => (level.kind === "object" ? level.key : level.index));
}
