import { AppError } from "@cognition/contract";
import type { MatchCondition } from "@langchain/langgraph-checkpoint";
import { parseJson } from "./serializer.ts";

/**
 * A namespace is stored as the JSON text of its labels: no label can pose as two, whatever it contains, and
 * everything below a namespace is one range of the primary key.
 */
export function encodeNamespace(namespace: readonly string[]): string {
  return JSON.stringify(namespace);
}

export function decodeNamespace(text: string): string[] {
  return parseJson(text, `The namespace ${text} of the memory store`) as string[];
}

/**
 * The namespace and everything below it: `from` ≤ text ≤ `to`, compared byte by byte. `["a","b"` is followed by a comma,
 * for what is below it, or by `]`, which comes after the comma; by nothing in between.
 */
export function namespaceRange(prefix: readonly string[]): { from: string; to: string } {
  const to = encodeNamespace(prefix);
  return { from: `${to.slice(0, -1)},`, to };
}

/**
 * LangGraph's own rules, except that a label may contain a period: theirs join the labels with it, ours don't.
 */
export function checkNamespace(namespace: readonly string[]): void {
  checkLabels(namespace);
  if (namespace.length === 0) throw invalid("A namespace needs at least one label", namespace);
  if (namespace.includes("")) throw invalid("A namespace label can't be empty", namespace);
  if (namespace[0] === "langgraph") throw invalid('"langgraph" is reserved as first label of a namespace', namespace);
}

/** For prefixes and patterns: an empty one means everything. */
export function checkLabels(labels: readonly string[]): void {
  if (!Array.isArray(labels) || labels.some((label) => typeof label !== "string")) {
    throw invalid("A namespace is a list of strings", labels);
  }
}

/** Label by label; `*` stands for any one label. */
export function matchesNamespace(condition: MatchCondition, namespace: readonly string[]): boolean {
  const { matchType, path } = condition;
  if (path.length > namespace.length) return false;
  const start = matchType === "prefix" ? 0 : namespace.length - path.length;
  return path.every((label, index) => label === "*" || label === namespace[start + index]);
}

/** The labels before the first wildcard: what a search through the index can start from. */
export function literalPrefix(conditions: readonly MatchCondition[]): string[] {
  const path = conditions.find(({ matchType }) => matchType === "prefix")?.path ?? [];
  const wildcard = path.indexOf("*");
  return wildcard === -1 ? path : path.slice(0, wildcard);
}

function invalid(message: string, namespace: unknown): AppError {
  return new AppError("validation_failed", `${message}; got ${JSON.stringify(namespace)}`, { details: { namespace } });
}
