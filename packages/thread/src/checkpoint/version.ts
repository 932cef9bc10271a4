/** Letters and digits only, of equal length: such texts compare the same by bytes and by any locale. */
const DIGITS = 6;
const SPACE = 36 ** DIGITS;

/** What came after which, in this turn. */
const given = new Map<string | number | undefined, string>();

/**
 * Versions rise along a branch and do not repeat on another one: a count, then chance. (A fork that counts on with
 * plain integers gives the same version to another value.) What a step changes has one version: LangGraph tells by it
 * that several nodes came last, and an update must say as which one it is made. Two branches that are begun in one turn
 * may have one in common, which nobody takes for the other's: a value is taken over from a checkpoint's own parent only.
 */
export function nextVersion(current: string | number | undefined): string {
  const known = given.get(current);
  if (known !== undefined) return known;
  const count = typeof current === "string" ? Number.parseInt(current.slice(0, DIGITS), 36) : (current ?? 0);
  const next = base36(count + 1) + base36(Math.floor(Math.random() * SPACE));
  // A step's changes are applied without a break.
  if (given.size === 0) queueMicrotask(() => given.clear());
  given.set(current, next);
  return next;
}

/** Another checkpointer's version (7, or "0007.0.123") in our form: they compare with each other as they did before. */
export function adoptVersion(version: string | number): string {
  const count = typeof version === "number" ? version : Number.parseInt(version, 10);
  return base36(count) + base36(0);
}

function base36(value: number): string {
  return value.toString(36).padStart(DIGITS, "0");
}
