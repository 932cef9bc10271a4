import { chmod, lstat, readdir, realpath, rm } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { hasCode } from "../../file/error-text.ts";
import { openFolder } from "../../file/open-folder.ts";
import { removeEntry } from "../../file/remove-entry.ts";

/** A process that is being stopped may still put something into a folder that was just emptied. */
const WHILE_OTHERS_WRITE = { maxRetries: 5, retryDelay: 50 };

/** Removes a session's folder with all that is in it; one that is not there is no error. */
export async function removeFolder(folder: string): Promise<void> {
  try {
    await removeAll(folder);
  } catch (error) {
    // It goes by whole paths, and a command can nest folders until they are longer than the system takes.
    if (!hasCode(error, "ENAMETOOLONG")) throw error;
    await removeDeepFolder(folder);
  }
}

async function removeAll(folder: string): Promise<void> {
  const remove = () => rm(folder, { recursive: true, force: true, ...WHILE_OTHERS_WRITE });
  try {
    await remove();
  } catch (error) {
    if (!hasCode(error, "EACCES", "EPERM")) throw error;
    await unlock(Buffer.from(folder));
    await remove();
  }
}

const SLASH = Buffer.from("/");

/**
 * Commands make folders that their owner may not write to or enter, such as caches of modules; nothing in them can be removed.
 * By bytes: a name need not be UTF-8.
 */
async function unlock(folder: Buffer): Promise<void> {
  const mode = (await lstat(folder).catch(undefinedIfMissing))?.mode;
  if (mode === undefined) return;
  if ((mode & 0o700) !== 0o700) await chmod(folder, (mode & 0o777) | 0o700);
  for (const entry of await readdir(folder, { withFileTypes: true, encoding: "buffer" }))
    if (entry.isDirectory()) await unlock(Buffer.concat([folder, SLASH, entry.name]));
}

function undefinedIfMissing(error: unknown): undefined {
  if (!hasCode(error, "ENOENT")) throw error;
}

async function removeDeepFolder(path: string): Promise<void> {
  const folder = await openFolder(await realpath(dirname(path)));
  try {
    await removeEntry({ folder, name: basename(path) });
  } finally {
    await folder.handle.close();
  }
}
