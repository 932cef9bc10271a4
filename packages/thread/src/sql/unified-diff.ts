/**
 * The shortest edit script is searched for only so far: two files that have little in common cost the square of their
 * difference in time and memory. Past it, what lies between the common start and end is shown as replaced as a whole.
 */
const MAX_EDITS = 1_000;
/** Of both texts together. Each takes a hundred bytes while they are compared: ten megabytes of line feeds would take a process down. */
const MAX_LINES = 200_000;
const CONTEXT = 3;

type Line = { kind: " " | "-" | "+"; text: string };

/** What `diff -u` prints, without its file times; empty if the texts are equal. */
export function unifiedDiff(before: string, after: string, beforeName: string, afterName: string): string {
  if (before === after) return "";
  const hunks = splitHunks(compareLines(splitLines(before), splitLines(after)));
  return `--- ${beforeName}\n+++ ${afterName}\n${hunks.join("")}`;
}

/** Whether two texts are few enough lines to be compared by whoever has other things to do as well. */
export function isComparable(before: string, after: string): boolean {
  return before === after || countLines(before) + countLines(after) <= MAX_LINES;
}

/** As far as they matter. */
function countLines(text: string): number {
  let lines = 0;
  for (let at = 0; at !== -1 && lines <= MAX_LINES; lines++) at = text.indexOf("\n", at) + 1 || -1;
  return lines;
}

/** Each line with its line feed; only the last one may lack it. */
function splitLines(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

function compareLines(before: readonly string[], after: readonly string[]): Line[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start++;
  let end = 0;
  const most = Math.min(before.length, after.length) - start;
  while (end < most && before[before.length - 1 - end] === after[after.length - 1 - end]) end++;
  const old = before.slice(start, before.length - end);
  const fresh = after.slice(start, after.length - end);
  return [
    ...lines(" ", before.slice(0, start)),
    ...(shortestEdit(old, fresh) ?? [...lines("-", old), ...lines("+", fresh)]),
    ...lines(" ", before.slice(before.length - end)),
  ];
}

function lines(kind: Line["kind"], texts: readonly string[]): Line[] {
  return texts.map((text) => ({ kind, text }));
}

/**
 * Myers' greedy search. On diagonal k (lines taken from `before` minus those from `after`) `reach` says how many lines
 * of `before` are behind us after the edits so far; each round is kept to walk back. Undefined past MAX_EDITS.
 */
function shortestEdit(before: readonly string[], after: readonly string[]): Line[] | undefined {
  const most = Math.min(before.length + after.length, MAX_EDITS);
  const reach = new Int32Array(2 * most + 3);
  const rounds: Round[] = [];
  for (let edits = 0; edits <= most; edits++) {
    // Only these diagonals are looked at on the way back.
    const round = { edits, reach: reach.slice(most - edits, most + edits + 3) };
    rounds.push(round);
    for (let k = -edits; k <= edits; k += 2) {
      const from = stepBack(round, k);
      let x = from.inserts ? from.x : from.x + 1;
      while (x < before.length && x - k < after.length && before[x] === after[x - k]) x++;
      reach[most + 1 + k] = x;
      if (x >= before.length && x - k >= after.length) return walkBack(before, after, rounds);
    }
  }
  return undefined;
}

interface Round {
  edits: number;
  /** From diagonal -edits - 1 to edits + 1, as the round found it. */
  reach: Int32Array;
}

/** Where the last edit onto diagonal k came from: an insertion from the one above, or a deletion from the one below. */
function stepBack({ edits, reach }: Round, k: number): { inserts: boolean; x: number } {
  const above = reach[edits + 1 + k + 1] as number;
  const below = reach[edits + 1 + k - 1] as number;
  const inserts = k === -edits || (k !== edits && below < above);
  return { inserts, x: inserts ? above : below };
}

function walkBack(before: readonly string[], after: readonly string[], rounds: readonly Round[]): Line[] {
  const script: Line[] = [];
  let [x, y] = [before.length, after.length];
  for (const round of rounds.toReversed()) {
    const from = stepBack(round, x - y);
    const start = round.edits === 0 ? 0 : from.inserts ? from.x : from.x + 1;
    while (x > start) {
      script.push({ kind: " ", text: before[--x] as string });
      y--;
    }
    if (round.edits === 0) break;
    script.push(from.inserts ? { kind: "+", text: after[--y] as string } : { kind: "-", text: before[--x] as string });
  }
  return script.reverse();
}

function splitHunks(script: readonly Line[]): string[] {
  const hunks: string[] = [];
  let [oldLine, newLine] = [1, 1];
  let hunk: { oldStart: number; newStart: number; lines: Line[] } | undefined;
  let unchanged = 0;
  const flush = (keep: number) => {
    if (hunk)
      hunks.push(printHunk({ ...hunk, lines: hunk.lines.slice(0, hunk.lines.length - Math.max(0, unchanged - keep)) }));
    hunk = undefined;
  };
  script.forEach((line, index) => {
    if (line.kind !== " " && !hunk) {
      const lead = script.slice(Math.max(0, index - CONTEXT), index);
      hunk = { oldStart: oldLine - lead.length, newStart: newLine - lead.length, lines: [...lead] };
    }
    unchanged = line.kind === " " ? unchanged + 1 : 0;
    hunk?.lines.push(line);
    if (line.kind !== "+") oldLine++;
    if (line.kind !== "-") newLine++;
    if (unchanged > 2 * CONTEXT) flush(CONTEXT);
  });
  flush(CONTEXT);
  return hunks;
}

function printHunk(hunk: { oldStart: number; newStart: number; lines: readonly Line[] }): string {
  const count = (other: Line["kind"]) => hunk.lines.filter(({ kind }) => kind !== other).length;
  const range = (start: number, length: number) => (length === 0 ? `${start - 1},0` : `${start},${length}`);
  const header = `@@ -${range(hunk.oldStart, count("+"))} +${range(hunk.newStart, count("-"))} @@\n`;
  return header + hunk.lines.map(printLine).join("");
}

function printLine({ kind, text }: Line): string {
  return text.endsWith("\n") ? kind + text : `${kind}${text}\n\\ No newline at end of file\n`;
}
