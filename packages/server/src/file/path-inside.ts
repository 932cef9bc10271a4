import { lstatSync } from "node:fs";
import { realpath } from "node:fs/promises";
import { isAbsolute, join, relative, sep } from "node:path";
import { hasCode } from "./error-text.ts";

/** Whether a path is the folder itself or below it, by its text. */
function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way === "" || !(way === ".." || way.startsWith(`..${sep}`) || isAbsolute(way));
}

/**
 * The real path of `way` below `folder`, with every link followed. Undefined if there is nothing, or if it leads out of
 * the folder: a link that an agent made must not open the rest of the disk.
 */
export async function findInside(folder: string, way: string): Promise<string | undefined> {
  if (isAbsolute(way) || way.includes("\0") || !isInside(folder, join(folder, way))) return undefined;
  try {
    // Mostly there is nothing, and this says so without a turn of the thread pool and an error.
    if (!lstatSync(join(folder, way), { throwIfNoEntry: false })) return undefined;
    const path = await realpath(join(folder, way));
    return isInside(await realpath(folder), path) ? path : undefined;
  } catch (error) {
    if (hasCode(error, "ENOENT", "ENOTDIR", "ELOOP", "ENAMETOOLONG")) return undefined;
    throw error;
  }
}
