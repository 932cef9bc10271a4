import { existsSync, lstatSync, mkdirSync, realpathSync } from "node:fs";
import { dirname } from "node:path";
import { AppError } from "@cognition/contract";
import type { Workspace } from "../backend.ts";
import { checkFolder } from "./check-folder.ts";
import { isAtOrBelow } from "./protected-paths.ts";

/**
 * A mount needs something to lie on, and a protected folder that is missing could otherwise be made by a command. Refuses
 * when a command has put a link on the way to it: the mount would show what the link leads to on this machine.
 */
export function makeProtectedFolders(workspace: Workspace): void {
  checkFolder(workspace);
  for (const path of pathsWithin(workspace, workspace.paths.protected)) {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    const real = stats ? path : dirname(path);
    if (!existsSync(real) || realpathSync(real) !== real) throw replaced(path);
    if (!stats) mkdirSync(path, { mode: 0o755 });
  }
}

export function pathsWithin({ folder }: Workspace, paths: readonly string[]): string[] {
  return paths.filter((path) => path !== folder && isAtOrBelow(path, folder));
}

function replaced(path: string): AppError {
  return new AppError(
    "forbidden",
    `The command was not run: something above the protected path ${path} is missing or has become a link. Put the folder back in its place.`,
    { details: { path } },
  );
}
