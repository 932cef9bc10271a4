import { constants } from "node:fs";
import { lstat, open, readdir } from "node:fs/promises";
import { hasCode } from "../../file/error-text.ts";
import { HOLDS_FOLDERS } from "../../file/open-folder.ts";

const BLOCK = 512;
const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
/** The system takes paths of 4,096 bytes, and a command can nest folders deeper: from here on it goes by an open folder. */
const LONG_PATH = 3_000;

interface Counting {
  readonly enough: number;
  /** Files with two names that were counted under one of them. */
  readonly linked: Set<bigint>;
}

/**
 * What a folder takes on the disk: holes in files cost nothing, and a file with two names is one file. Counts no further than
 * `enough`. What disappears meanwhile, or may not be looked at, is left out.
 */
export function measureFolder(folder: string, enough: number): Promise<number> {
  return measure(Buffer.from(folder).toString("latin1"), { enough, linked: new Set() });
}

/** Paths are bytes, one character each (latin1): a name that is not UTF-8 could not be looked at again as text. */
async function measure(root: string, { enough, linked }: Counting): Promise<number> {
  const open = [root];
  let total = 0;
  for (let path = open.pop(); path !== undefined && total <= enough; path = open.pop()) {
    const folder = path;
    if (HOLDS_FOLDERS && folder.length > LONG_PATH && folder !== root) {
      total += await measureHeld(folder, { enough: enough - total, linked });
      continue;
    }
    const entries = await readdir(toPath(folder), { withFileTypes: true, encoding: "buffer" }).catch(noneIfGone);
    const found = entries.map((entry) => ({ entry, path: `${folder}/${entry.name.toString("latin1")}` }));
    const sizes = await Promise.all(found.map((each) => sizeOf(each.path, linked)));
    total += sizes.reduce((sum, size) => sum + size, 0);
    for (const each of found) if (each.entry.isDirectory()) open.push(each.path);
  }
  return total;
}

async function measureHeld(path: string, counting: Counting): Promise<number> {
  const folder = await open(toPath(path), FOLDER).catch(undefinedIfGone);
  if (!folder) return 0;
  try {
    return await measure(`/proc/self/fd/${folder.fd}`, counting);
  } finally {
    await folder.close();
  }
}

async function sizeOf(path: string, linked: Set<bigint>): Promise<number> {
  const stats = await lstat(toPath(path), { bigint: true }).catch(undefinedIfGone);
  if (!stats || (stats.nlink > 1n && stats.isFile() && linked.has(stats.ino))) return 0;
  if (stats.nlink > 1n) linked.add(stats.ino);
  return Number(stats.blocks) * BLOCK;
}

function toPath(bytes: string): Buffer {
  return Buffer.from(bytes, "latin1");
}

function undefinedIfGone(error: unknown): undefined {
  if (!hasCode(error, "ENOENT", "ENOTDIR", "EACCES", "ELOOP", "ENAMETOOLONG")) throw error;
}

function noneIfGone(error: unknown): [] {
  undefinedIfGone(error);
  return [];
}
