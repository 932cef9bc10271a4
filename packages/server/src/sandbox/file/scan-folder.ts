import type { Dirent } from "node:fs";
import { readdir } from "node:fs/promises";
import { AppError } from "@cognition/contract";
import { hasCode } from "../../file/error-text.ts";
import { entryOf, type OpenFolder, openFolderIn } from "../../file/open-folder.ts";

export interface ScannedFile {
  readonly folder: OpenFolder;
  readonly name: string;
  /** From the folder where the scan began. */
  readonly path: string;
}

/** Each level holds a descriptor, of which a process has about a thousand. */
const MAX_DEPTH = 200;

/**
 * The regular files below an open folder, sorted by name within each folder, with links neither entered nor reported. What
 * disappears meanwhile is left out. A file's folder is open only until the next file is asked for.
 */
export async function* scanFolder(folder: OpenFolder, prefix = ""): AsyncGenerator<ScannedFile> {
  if (prefix.split("/").length > MAX_DEPTH)
    throw new AppError(
      "limit_exceeded",
      `The folders are nested more than ${MAX_DEPTH} deep; search below one of them.`,
    );
  const entries = await readdir(entryOf(folder, "."), { withFileTypes: true });
  for (const entry of entries.sort(byName)) {
    const path = `${prefix}${entry.name}`;
    if (entry.isFile()) yield { folder, name: entry.name, path };
    else if (entry.isDirectory()) yield* scanChild(folder, entry.name, path);
  }
}

async function* scanChild(folder: OpenFolder, name: string, path: string): AsyncGenerator<ScannedFile> {
  let child: OpenFolder;
  try {
    child = await openFolderIn(folder, name);
  } catch (error) {
    // Removed, or swapped for a link or a file, since it was listed; or not to be entered by us.
    if (hasCode(error, "ENOENT", "ENOTDIR", "ELOOP", "EACCES")) return;
    throw error;
  }
  try {
    yield* scanFolder(child, `${path}/`);
  } finally {
    await child.handle.close();
  }
}

function byName(a: Dirent, b: Dirent): number {
  return a.name < b.name ? -1 : 1;
}
