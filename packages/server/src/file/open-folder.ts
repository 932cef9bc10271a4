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
export async function openFolderIn(folder: OpenFolder, name: string | Buffer): Promise<OpenFolder> {
  return { path: join(folder.path, name.toString()), handle: await open(entryOf(folder, name), FLAGS) };
}

/**
 * The path of an entry of an open folder. On Linux it leads through the descriptor, as openat would. Elsewhere Node has no
 * such way: there a folder that is swapped for a link between two steps is followed. A name that is no UTF-8 is given as
 * bytes.
 */
export function entryOf<T extends string | Buffer>(folder: OpenFolder, name: T): T;
export function entryOf(folder: OpenFolder, name: string | Buffer): string | Buffer {
  if (typeof name !== "string") return Buffer.concat([Buffer.from(`${entryOf(folder, ".")}/`), name]);
  return HOLDS_FOLDERS ? `/proc/self/fd/${folder.handle.fd}/${name}` : join(folder.path, name);
}
