/**
 * Files that are being written beside those they are to replace have names that begin so. They are there for a moment, and one
 * that was left behind by a process that died is nobody's: no snapshot holds them.
 */
export const UNFINISHED = {
  /** A restore's. The next one in the same folder removes it. */
  restored: ".cognition-unfinished-",
  /** Any other: several may be written at a time, also while the folder is restored. */
  written: ".cognition-writing-",
} as const;

const PREFIXES = Object.values(UNFINISHED);

export function isUnfinished(name: string): boolean {
  return PREFIXES.some((prefix) => name.startsWith(prefix));
}
