import { mask } from "./phrase.ts";
import { findPath } from "./workspace-path.ts";

const IMPERATIVE =
  "list|read|show|open|print|display|create|make|write|save|add|append|edit|change|replace|delete|remove|run|execute|use|call|invoke|search|find|grep|look|delegate|ask|tell|plan|count|say|repeat|summari[sz]e|fetch|get|check|answer|reply|what|who";

/** Where one instruction may end and the next begin. Whether it does is decided by whether the next one makes sense. */
const BOUNDARIES: readonly RegExp[] = [
  /[.,;!]?\s+(?:and\s+)?(?:then|after that|after which|afterwards|and finally|finally|next)\b[,:]?\s+/gi,
  /(?<=[.!?])\s+(?=\p{Lu})/gu,
  /;\s+/g,
  /\n+\s*(?:\d+[.)]|[-*•])?\s*/g,
  new RegExp(`,?\\s+and\\s+(?=(?:${IMPERATIVE})\\b)`, "gi"),
];
/** Each is weighed against all the text before it; a long text pasted into a message would take minutes. */
const MAX_BOUNDARIES = 60;
const MAX_SENTENCE = 1_000;
const COMMAND = /\b(?:command|shell|terminal|bash)\b[^:]*:|^\s*\$\s|\b(?:run|execute)\b\s*:/i;
const PRONOUN = /\b(it|that file|this file|the file|the same file|its|them)\b/i;

/** Cuts a request into instructions, in order. A part that says nothing of its own belongs to the one before it. */
export function splitInstructions(request: string, isInstruction: (part: string) => boolean): string[] {
  const { text, reveal } = mask(request);
  const parts: string[] = [];
  let from = 0;
  for (const { at, end, ordered, strong } of boundariesIn(text)) {
    const before = withReferent(reveal(text.slice(from, at)).trim(), parts);
    const after = withReferent(reveal(text.slice(end)).trim(), [...parts, before]);
    if (/^[^:]*:$/.test(before) && !isInstruction(before)) {
      // "Do the following:" says nothing itself.
      from = end;
      continue;
    }
    // What follows a colon at a line's end is its content, however much it reads like instructions.
    if (before === "" || /:\s*(?:\n|$)/.test(before) || (COMMAND.test(before) && !ordered)) continue;
    if (!isInstruction(before) || !(strong || startsInstruction(after, isInstruction))) continue;
    parts.push(before);
    from = end;
  }
  parts.push(withReferent(reveal(text.slice(from)).trim(), parts));
  return parts.filter(Boolean);
}

interface Boundary {
  readonly at: number;
  readonly end: number;
  /** A "then", which ends even a command. */
  readonly ordered: boolean;
  /** A sentence that begins with "then" is a new instruction, understood or not. */
  readonly strong: boolean;
}

function boundariesIn(text: string): Boundary[] {
  const all = BOUNDARIES.flatMap((pattern, index) =>
    [...text.matchAll(pattern)].map((match) => ({
      at: match.index,
      end: match.index + match[0].length,
      ordered: index === 0,
      strong: index === 0 && /^[.;!\n]/.test(match[0]),
    })),
  )
    .sort((a, b) => a.at - b.at || b.end - a.end)
    .slice(0, MAX_BOUNDARIES * 2);
  const apart = all.filter((boundary, index) => !all.slice(0, index).some((other) => other.end > boundary.at));
  return apart.slice(0, MAX_BOUNDARIES);
}

// The rest may hold more instructions; it is enough that its first sentence is one.
function startsInstruction(rest: string, isInstruction: (part: string) => boolean): boolean {
  const { text, reveal } = mask(rest.slice(0, MAX_SENTENCE));
  const first = reveal(text.split(/(?<=[.!?])\s+(?=\p{Lu})|\n|[.,;]?\s+(?:and\s+)?then\b/u)[0] ?? "");
  return isInstruction(first) || (rest.length < MAX_SENTENCE && isInstruction(rest));
}

/** "read it back" after "create a.txt" means a.txt. */
function withReferent(part: string, before: readonly string[]): string {
  if (findPath(part) !== undefined || !PRONOUN.test(part)) return part;
  const path = before.map(findPath).findLast((found) => found !== undefined);
  return path === undefined ? part : part.replace(PRONOUN, path);
}
