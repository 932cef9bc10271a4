import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { hasCode } from "./error-text.ts";

/** Names in a folder; none if it does not exist. */
async function names(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (hasCode(error, "ENOENT", "ENOTDIR")) return [];
    throw error;
  }
}

/** Files directly in a folder with one of the endings. Those that begin with a dot or `_` are drafts and editors' own. */
export async function findByEnding(folder: string, endings: readonly string[]): Promise<string[]> {
  const wanted = (name: string) => !/^[._]/.test(name) && endings.some((ending) => name.endsWith(ending));
  return (await names(folder)).filter(wanted).map((name) => join(folder, name));
}

/** `<folder>/<any>/<file>`, where it exists or not. */
export async function findInEach(folder: string, file: string): Promise<string[]> {
  return (await names(folder)).filter((name) => !name.startsWith(".")).map((name) => join(folder, name, file));
}
