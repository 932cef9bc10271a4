import { statSync } from "node:fs";
import type { Workspace } from "../backend.ts";
import { workspaceGone } from "./file-error.ts";

/** Before a command is started: without the folder a system says no more than that something is not there. */
export function checkFolder({ folder }: Pick<Workspace, "folder">): void {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) throw workspaceGone(folder, "Nothing was run.");
}
