import { mkdirSync, renameSync } from "node:fs";
import { join } from "node:path";

/** Folders in each other, from the inside out: by its whole path the innermost may be out of reach. Gives the outermost one. */
export function nestFolders(parent: string, depth: number, name: string): string {
  const outermost = join(parent, name);
  const inner = join(parent, "inner");
  mkdirSync(outermost);
  for (let level = 1; level < depth; level++) {
    renameSync(outermost, inner);
    mkdirSync(outermost);
    renameSync(inner, join(outermost, name));
  }
  return outermost;
}
