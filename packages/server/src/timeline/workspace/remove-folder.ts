import { realpath, rm } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { hasCode } from "../../file/error-text.ts";
import { openFolder } from "../../file/open-folder.ts";
import { removeEntry } from "../../file/remove-entry.ts";

/** A process that is being stopped may still put something into a folder that was just emptied. */
const WHILE_OTHERS_WRITE = { maxRetries: 5, retryDelay: 50 };

/** Removes a session's folder with all that is in it; one that is not there is no error. */
export async function removeFolder(folder: string): Promise<void> {
  try {
    await rm(folder, { recursive: true, force: true, ...WHILE_OTHERS_WRITE });
  } catch (error) {
    // It goes by whole paths, and a command can nest folders until they are longer than the system takes.
    if (!hasCode(error, "ENAMETOOLONG")) throw error;
    await removeDeepFolder(folder);
  }
}

async function removeDeepFolder(path: string): Promise<void> {
  const folder = await openFolder(await realpath(dirname(path)));
  try {
    await removeEntry({ folder, name: basename(path) });
  } finally {
    await folder.handle.close();
  }
}
