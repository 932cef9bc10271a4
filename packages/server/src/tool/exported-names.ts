const MAX_NAMES = 300;
// Neither an indent nor a list goes on for ever: over the lines that follow, a megabyte of them would take hours.
const DECLARATION =
  /^[ \t]*export\s+(?:default\s+)?(?:declare\s+)?(?:abstract\s+)?(?:async\s+)?(?:function\*?|const|let|var|class|interface|type|enum|namespace)\s+([\w$]+)/gm;
const LIST = /^[ \t]*export\s+(?:type\s+)?\{([^{}]*)\}/gm;
const STAR = /^[ \t]*export\s+\*\s+(?:as\s+([\w$]+)\s+)?from\s+["']([^"']+)["']/gm;

/** The names that a declaration file exports, as far as its text tells; `* from "./x"` for what it passes on whole. */
export function exportedNames(source: string): string[] {
  const declared = [...source.matchAll(DECLARATION)].map(([, name]) => name ?? "");
  const listed = [...source.matchAll(LIST)].flatMap(([, names]) => (names ?? "").split(",").map(exportedAs));
  const passedOn = [...source.matchAll(STAR)].map(([, name, from]) => name ?? `* from "${from}"`);
  return [...new Set([...declared, ...listed, ...passedOn])].filter((name) => name !== "").slice(0, MAX_NAMES);
}

function exportedAs(entry: string): string {
  const words = entry.trim().split(/\s+/);
  return words.at(-1) ?? "";
}
