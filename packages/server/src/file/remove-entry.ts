import { randomUUID } from "node:crypto";
import { readdir, rename, rmdir, unlink } from "node:fs/promises";
import { hasCode } from "./error-text.ts";
import { entryOf, type OpenFolder, openFolderIn } from "./open-folder.ts";

/** Each level holds a descriptor, of which a process has about a thousand; a command may nest folders without end. */
const MAX_DEPTH = 200;

/**
 * Removes a file, a link or a folder with all that is in it. Goes down through open folders: `fs.rm` looks at a folder by
 * its path and then lists it by its path, and one swapped for a link in between would have its target emptied. What lies
 * too deep is brought up into the folder that goes, and removed from there.
 */
export async function removeEntry({ folder, name }: { folder: OpenFolder; name: string }): Promise<void> {
  const top = await openUnlessFile(folder, name);
  if (!top) return unlink(entryOf(folder, name));
  try {
    for (let isLeft = true; isLeft; ) isLeft = await empty(top, top, 1);
  } finally {
    await top.handle.close();
  }
  await rmdir(entryOf(folder, name));
}

/** Tells whether something was brought up to `top` instead of being removed. */
async function empty(folder: OpenFolder, top: OpenFolder, depth: number): Promise<boolean> {
  let broughtUp = false;
  for (const entry of await readdir(entryOf(folder, "."), { withFileTypes: true, encoding: "buffer" })) {
    const child = entry.isDirectory() ? await openUnlessFile(folder, entry.name) : undefined;
    try {
      if (child && depth >= MAX_DEPTH) {
        await rename(entryOf(folder, entry.name), entryOf(top, `.cognition-${randomUUID()}`));
        broughtUp = true;
      } else if (child) {
        broughtUp = (await empty(child, top, depth + 1)) || broughtUp;
        await rmdir(entryOf(folder, entry.name));
      } else await unlink(entryOf(folder, entry.name));
    } finally {
      await child?.handle.close();
    }
  }
  return broughtUp;
}

async function openUnlessFile(folder: OpenFolder, name: string | Buffer): Promise<OpenFolder | undefined> {
  try {
    return await openFolderIn(folder, name);
  } catch (error) {
    if (hasCode(error, "ENOTDIR", "ELOOP")) return undefined;
    throw error;
  }
}
