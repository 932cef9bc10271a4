import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Session, Uuid } from "@cognition/contract";
import type { Storage } from "@cognition/thread";
import { hasCode } from "../file/error-text.ts";
import type { RunEngine } from "../run/run-engine.ts";
import type { Sandboxes } from "../sandbox/sandbox.ts";
import type { Workspaces } from "../timeline/workspace/workspaces.ts";
import { ownsFolder, workspaceOf } from "./workspace-folder.ts";

export interface DeletedFoldersOptions {
  readonly storage: Pick<Storage, "getSession" | "watchDeletions">;
  readonly sandboxes: Pick<Sandboxes, "remove">;
  readonly engine: Pick<RunEngine, "untilLeft">;
  readonly workspaces: Pick<Workspaces, "remove">;
  readonly workspace_root: string;
  readonly onError: (error: unknown) => void;
}

type Folder = Pick<Session, "id" | "workspace_path">;

/** What this node has made for sessions that are deleted: nobody else can remove it. */
export interface DeletedFolders {
  /** Before a session is deleted: should this process die before its folder is gone, the next one finds it by this. */
  announce(session: Folder): void;
  /** Removes what was made for a session that is deleted. */
  clear(session: Folder): Promise<void>;
  /** Clears what an earlier process did not come to, and from now on what is deleted through other nodes. */
  start(): void;
  stop(): void;
}

export function createDeletedFolders(options: DeletedFoldersOptions): DeletedFolders {
  const { storage, sandboxes, engine, workspaces, workspace_root: root, onError } = options;
  const notes = join(root, ".cognition", "deleted");
  let watching: Promise<() => void> | undefined;

  async function clear(session: Folder): Promise<void> {
    await sandboxes.remove(session.id);
    await engine.untilLeft(session.id);
    await workspaces.remove(session);
    rmSync(join(notes, session.id), { force: true });
  }

  async function clearIfDeleted(session_id: string): Promise<void> {
    if (!(await storage.getSession(session_id))) await clear({ id: session_id, workspace_path: null });
  }

  async function hear(session_id: string): Promise<void> {
    if (!isMade(session_id) || !existsSync(workspaceOf(root, { id: session_id, workspace_path: null }))) return;
    await engine.untilLeft(session_id);
    await clearIfDeleted(session_id);
  }

  return {
    clear,
    announce: (session) => {
      if (!ownsFolder(session) || !isMade(session.id)) return;
      mkdirSync(notes, { recursive: true });
      writeFileSync(join(notes, session.id), "");
    },
    start: () => {
      for (const session_id of listNotes(notes).filter(isMade)) clearIfDeleted(session_id).catch(onError);
      watching ??= storage.watchDeletions((session_id) => void hear(session_id).catch(onError));
      watching.catch(onError);
    },
    stop: () => {
      watching?.then(
        (stop) => stop(),
        () => undefined,
      ); // told when it failed
    },
  };
}

/** The name of a folder that the server made is a session's id, and nothing else. */
function isMade(session_id: string): boolean {
  return Uuid.safeParse(session_id).success;
}

function listNotes(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (hasCode(error, "ENOENT")) return [];
    throw error;
  }
}
