/** Letters and digits only, of equal length: such texts compare the same by bytes and by any locale. */
const DIGITS = 6;
const SPACE = 36 ** DIGITS;

/**
 * Versions rise along a branch and never repeat on another one: a count, then chance. (A fork that counts on with
 * plain integers gives the same version to another value.)
 */
export function nextVersion(current: string | number | undefined): string {
  const count = typeof current === "string" ? Number.parseInt(current.slice(0, DIGITS), 36) : (current ?? 0);
  return base36(count + 1) + base36(Math.floor(Math.random() * SPACE));
}

/** Another checkpointer's version (7, or "0007.0.123") in our form: they compare with each other as they did before. */
export function adoptVersion(version: string | number): string {
  const count = typeof version === "number" ? version : Number.parseInt(version, 10);
  return base36(count) + base36(0);
}

function base36(value: number): string {
  return value.toString(36).padStart(DIGITS, "0");
}
