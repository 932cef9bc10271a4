import { readdir, rmdir, unlink } from "node:fs/promises";
import type { FolderEntry } from "./file-access.ts";
import { entryOf, openFolderIn } from "./open-folder.ts";

/**
 * Removes a file, a link or a folder with all that is in it. Goes down through open folders: `fs.rm` looks at a folder by
 * its path and then lists it by its path, and one swapped for a link in between would have its target emptied.
 */
export async function removeEntry({ folder, name, path }: FolderEntry): Promise<void> {
  const child = await openFolderIn(folder, name).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOTDIR" || error.code === "ELOOP") return undefined;
    throw error;
  });
  if (!child) return unlink(entryOf(folder, name));
  try {
    const entries = await readdir(entryOf(child, "."), { withFileTypes: true });
    for (const entry of entries) {
      if (entry.isDirectory()) await removeEntry({ folder: child, name: entry.name, path: `${path}/${entry.name}` });
      else await unlink(entryOf(child, entry.name));
    }
  } finally {
    await child.handle.close();
  }
  await rmdir(entryOf(folder, name));
}
