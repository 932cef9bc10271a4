type Path = (string | number)[];

/** Without one of these no number of a text can be too large; few texts have one. */
const LONG_OR_RAISED = /\d{200}|[eE]\+?\d{3}/;

/**
 * Where a JSON text has a number such as 1e400. `JSON.parse` makes it Infinity, and whatever writes it as JSON again makes that null:
 * an agent would be given nothing where its caller sent something.
 */
export function findInfinite(text: string, value: unknown): Path | undefined {
  return LONG_OR_RAISED.test(text) ? infiniteIn(value) : undefined;
}

/** As deep as a body may be. */
function infiniteIn(value: unknown): Path | undefined {
  if (typeof value === "number") return Number.isFinite(value) ? undefined : [];
  if (typeof value !== "object" || value === null) return undefined;
  for (const [key, member] of Object.entries(value)) {
    const path = infiniteIn(member);
    if (path) return [Array.isArray(value) ? Number(key) : key, ...path];
  }
  return undefined;
}
