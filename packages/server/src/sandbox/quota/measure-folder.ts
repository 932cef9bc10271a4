import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";

const BLOCK = 512;

/**
 * What a folder takes on the disk: holes in files cost nothing, and a file with two names is one file. Counts no further than
 * `enough`. What disappears meanwhile, or may not be looked at, is left out.
 */
export async function measureFolder(folder: string, enough: number): Promise<number> {
  const linked = new Set<bigint>();
  const open = [folder];
  let total = 0;
  for (let path = open.pop(); path !== undefined && total <= enough; path = open.pop()) {
    const entries = await readdir(path, { withFileTypes: true }).catch(noneIfGone);
    const sizes = await Promise.all(entries.map((entry) => sizeOf(join(path, entry.name), linked)));
    total += sizes.reduce((sum, size) => sum + size, 0);
    for (const entry of entries) if (entry.isDirectory()) open.push(join(path, entry.name));
  }
  return total;
}

async function sizeOf(path: string, linked: Set<bigint>): Promise<number> {
  const stats = await lstat(path, { bigint: true }).catch(undefinedIfGone);
  if (!stats || (stats.nlink > 1n && stats.isFile() && linked.has(stats.ino))) return 0;
  if (stats.nlink > 1n) linked.add(stats.ino);
  return Number(stats.blocks) * BLOCK;
}

function undefinedIfGone(error: NodeJS.ErrnoException): undefined {
  if (!["ENOENT", "ENOTDIR", "EACCES", "ELOOP"].includes(error.code ?? "")) throw error;
}

function noneIfGone(error: NodeJS.ErrnoException): [] {
  undefinedIfGone(error);
  return [];
}
