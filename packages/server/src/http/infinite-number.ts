type Path = (string | number)[];

/**
 * Where a parsed text had a number such as 1e400. `JSON.parse` makes it Infinity, and whatever writes it as JSON again makes that null:
 * an agent would be given nothing where its caller sent something. Goes as deep as a body may be.
 */
export function findInfinite(value: unknown): Path | undefined {
  if (typeof value === "number") return Number.isFinite(value) ? undefined : [];
  if (typeof value !== "object" || value === null) return undefined;
  // Not its entries: a list of lists, made for each of a hundred thousand objects, would take ten times as long.
  for (const key of Object.keys(value)) {
    const path = findInfinite((value as Record<string, unknown>)[key]);
    if (path) return [Array.isArray(value) ? Number(key) : key, ...path];
  }
  return undefined;
}
