import { existsSync, lstatSync, mkdirSync, readdirSync, realpathSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { AppError } from "@cognition/contract";
import type { Workspace } from "../backend.ts";
import { isAtOrBelow } from "../file/protected-paths.ts";

export const INSIDE = "/workspace";

/**
 * A mount needs something to lie on, and a protected folder that is missing could otherwise be made by a command. Refuses
 * when a command has put a link on the way to it: the mount would show what the link leads to on this machine.
 */
export function makeProtectedFolders(workspace: Workspace): void {
  for (const path of within(workspace, workspace.paths.protected)) {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    const real = stats ? path : dirname(path);
    if (!existsSync(real) || realpathSync(real) !== real) throw replaced(path);
    if (!stats) mkdirSync(path, { mode: 0o755 });
  }
}

/**
 * What is protected is mounted again over itself, read-only. A protected folder with something hidden in it becomes an empty
 * one with its other entries in it: the companions of a database come and go, and one that appears later must not be seen.
 */
export function protectedMounts(workspace: Workspace): string[] {
  const protectedPaths = within(workspace, workspace.paths.protected);
  const hidden = within(workspace, workspace.paths.hidden);
  const inside = (path: string) => join(INSIDE, relative(workspace.folder, path));
  const loose = hidden.filter((path) => !protectedPaths.some((each) => isAtOrBelow(path, each)));
  return [
    ...protectedPaths.flatMap((path) => protect(path, workspace.paths.hidden, inside)),
    // Nothing can be read from a device that is mounted without the right to be one.
    ...loose.flatMap((path) => (existsSync(path) ? ["--ro-bind", "/dev/null", inside(path)] : [])),
  ];
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

function within({ folder }: Workspace, paths: readonly string[]): string[] {
  return paths.filter((path) => path !== folder && isAtOrBelow(path, folder));
}

function replaced(path: string): AppError {
  return new AppError(
    "forbidden",
    `The command was not run: something above the protected path ${path} is missing or has become a link. Put the folder back in its place.`,
    { details: { path } },
  );
}
