import { existsSync, lstatSync, readdirSync, realpathSync } from "node:fs";
import { join, relative } from "node:path";
import { INSIDE, type Workspace } from "../backend.ts";
import { pathsWithin } from "../file/protected-folders.ts";
import { isAtOrBelow } from "../file/protected-paths.ts";

/**
 * What is protected is mounted again over itself, read-only. A protected folder with something hidden in it becomes an empty
 * one with its other entries in it: the companions of a database come and go, and one that appears later must not be seen.
 */
export function protectedMounts(workspace: Workspace): string[] {
  const protectedPaths = pathsWithin(workspace, workspace.paths.protected);
  const hidden = pathsWithin(workspace, workspace.paths.hidden);
  const inside = (path: string) => join(INSIDE, relative(workspace.folder, path));
  const loose = hidden.filter((path) => !protectedPaths.some((each) => isAtOrBelow(path, each)));
  return [
    ...protectedPaths.flatMap((path) => protect(path, workspace.paths.hidden, inside)),
    ...loose.flatMap((path) => (existsSync(path) ? hide(path, inside(path)) : [])),
  ];
}

function hide(path: string, inside: string): string[] {
  if (lstatSync(path).isDirectory()) return ["--tmpfs", inside, "--remount-ro", inside];
  // Nothing can be read from a device that is mounted without the right to be one.
  return ["--ro-bind", "/dev/null", inside];
}

function protect(path: string, hidden: readonly string[], inside: (path: string) => string): string[] {
  // A link to what is hidden shows it as well, and a broken one shows nothing.
  if (!existsSync(path) || hidden.includes(realpathSync(path))) return [];
  const isFolder = lstatSync(path).isDirectory();
  if (!isFolder || !hidden.some((each) => isAtOrBelow(each, path))) return ["--ro-bind", path, inside(path)];
  const entries = readdirSync(path).map((name) => join(path, name));
  return [
    ...["--tmpfs", inside(path)],
    ...entries.flatMap((entry) => protect(entry, hidden, inside)),
    ...["--remount-ro", inside(path)],
  ];
}
