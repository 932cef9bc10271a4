import { readdirSync, readFileSync } from "node:fs";
import { join, matchesGlob, posix } from "node:path";

/** Every file of the repository that .gitignore does not leave out, by its path from `root`, with "/" in between. */
export function listRepositoryFiles(root: string): string[] {
  const patterns = readFileSync(join(root, ".gitignore"), "utf8")
    .split("\n")
    .filter((line) => /^[^#]/.test(line));
  for (const pattern of patterns) {
    // Read here rather than asked of git, so that the tests also run in a downloaded archive.
    if (/^!|\/./.test(pattern)) throw new Error(`.gitignore: "${pattern}" is a kind of line not understood here`);
  }
  return listFolder(root, "", patterns);
}

function listFolder(root: string, folder: string, patterns: readonly string[]): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const isFolder = entry.isDirectory();
    if (entry.name === ".git" || patterns.some((pattern) => isIgnored(entry.name, isFolder, pattern))) return [];
    const path = posix.join(folder, entry.name);
    if (isFolder) return listFolder(root, path, patterns);
    return entry.isFile() ? [path] : [];
  });
}

function isIgnored(name: string, isFolder: boolean, pattern: string): boolean {
  if (pattern.endsWith("/")) return isFolder && matchesGlob(name, pattern.slice(0, -1));
  return matchesGlob(name, pattern);
}
