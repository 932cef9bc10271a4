import type { Origin } from "./origin.ts";

export type Path = readonly PropertyKey[];

/** One source of values, as it gives them. A later layer goes over an earlier one, key by key. */
export interface Layer {
  readonly value: Record<string, unknown>;
  /** Whether the value at this path was written as text that may stand for a number, a list … */
  isText(path: Path): boolean;
  originOf(path: Path): Origin;
}

export function isGroup(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function valueAt(tree: unknown, path: Path): unknown {
  let value = tree;
  for (const key of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<PropertyKey, unknown>)[key];
  }
  return value;
}

/** A copy of the tree with another value there. */
export function withValue(tree: unknown, path: Path, value: unknown): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return value;
  const inner = withValue(valueAt(tree, [key]), rest, value);
  if (Array.isArray(tree)) return tree.with(Number(key), inner);
  return { ...(isGroup(tree) ? tree : {}), [key]: inner };
}
