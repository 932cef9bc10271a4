import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";

/** A folder held open, and its path at the time. */
export interface OpenFolder {
  readonly handle: FileHandle;
  readonly path: string;
}

const FLAGS = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/** Whether a folder that is held open can be gone on from, whatever happens to its path. */
export const HOLDS_FOLDERS = process.platform === "linux";

export async function openFolder(path: string): Promise<OpenFolder> {
  return { path, handle: await open(path, FLAGS) };
}

/** Never follows a link. */
export async function openFolderIn(folder: OpenFolder, name: string): Promise<OpenFolder> {
  return { path: join(folder.path, name), handle: await open(entryOf(folder, name), FLAGS) };
}

/**
 * The path of an entry of an open folder. On Linux it leads through the descriptor, as openat would. Elsewhere Node has no
 * such way: there a folder that is swapped for a link between two steps is followed.
 */
export function entryOf(folder: OpenFolder, name: string): string {
  return HOLDS_FOLDERS ? `/proc/self/fd/${folder.handle.fd}/${name}` : join(folder.path, name);
}
