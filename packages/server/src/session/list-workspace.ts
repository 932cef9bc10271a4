import { AppError, isAppError, type WorkspaceFile } from "@cognition/contract";
import type { SandboxFiles } from "../sandbox/sandbox.ts";

/** More would be an answer that nobody reads and a walk that takes minutes. */
const MAX_ENTRIES = 20_000;

/** Everything in a workspace, sorted by path. What may not be read is left out, and links are not followed. */
export async function listWorkspace(files: Pick<SandboxFiles, "ls">): Promise<WorkspaceFile[]> {
  const found: WorkspaceFile[] = [];
  const folders = ["."];
  for (let folder = folders.shift(); folder !== undefined; folder = folders.shift()) {
    const entries = await (folder === "." ? files.ls() : files.ls(folder).catch(noneIfClosed));
    found.push(...entries);
    folders.push(...entries.filter(({ type }) => type === "directory").map(({ path }) => path));
    if (found.length > MAX_ENTRIES) throw tooMany();
  }
  return found.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** Hidden, closed to the server by its mode, too deep, or gone since the folder that it is in was read. */
function noneIfClosed(error: unknown): WorkspaceFile[] {
  if (isAppError(error, "forbidden", "file_not_found", "workspace_path_refused", "validation_failed")) return [];
  throw error;
}

function tooMany(): AppError {
  return new AppError("limit_exceeded", `The workspace has more than the ${MAX_ENTRIES} entries that can be listed`, {
    details: { limit: "workspace_entries", max: MAX_ENTRIES },
  });
}
