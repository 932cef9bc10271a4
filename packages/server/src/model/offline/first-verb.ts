import { mask } from "./phrase.ts";

/** What can be asked of a file, by the words for it. */
const VERBS = {
  add: "add|append|insert|prepend|attach",
  delete: "delete|remove|erase|get rid of|trash",
  move: "rename|move",
  copy: "copy|duplicate",
  write: "create|make|write|save|put|store|dump|generate|produce|touch|overwrite|rewrite|fill",
  change: "replace|substitute|swap|change|turn|convert|update|set",
  look: "read|show|open|print|display|view|list|find|search|look|what|which|who|when",
} as const;

export type FileVerb = keyof typeof VERBS;

const ANY = new RegExp(
  `(?<![\\w./-])(?:${Object.entries(VERBS)
    .map(([name, words]) => `(?<${name}>${words})`)
    .join("|")})(?![\\w./-])`,
  "i",
);

/** What an instruction asks for first: "create a.txt containing: delete me" asks for no deletion. */
export function firstVerb(instruction: string): FileVerb | undefined {
  const groups = ANY.exec(mask(instruction).text)?.groups ?? {};
  return (Object.keys(groups) as FileVerb[]).find((name) => groups[name] !== undefined);
}
