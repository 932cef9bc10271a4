import { lstatSync, realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { hasCode } from "./error-text.ts";

/**
 * The real path of the part that exists, with the rest behind it. On this thread: it is a few microseconds, where the pool
 * takes a tenth of a millisecond for each, and every run asks for several.
 */
export function resolveExisting(path: string): string {
  const parent = dirname(path);
  try {
    // Most are not there, and an error with its stack costs more than the look.
    if (lstatSync(path, { throwIfNoEntry: false })) return realpathSync.native(path);
  } catch (error) {
    if (!hasCode(error, "ENOENT")) return path;
  }
  return parent === path ? path : join(resolveExisting(parent), basename(path));
}
