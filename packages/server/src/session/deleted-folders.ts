import { existsSync, readdirSync } from "node:fs";
import { type Session, Uuid } from "@cognition/contract";
import type { Storage } from "@cognition/thread";
import { hasCode } from "../file/error-text.ts";
import type { RunEngine } from "../run/run-engine.ts";
import type { Sandboxes } from "../sandbox/sandbox.ts";
import type { Workspaces } from "../timeline/workspace/workspaces.ts";
import { workspaceOf } from "./workspace-folder.ts";

export interface DeletedFoldersOptions {
  readonly storage: Pick<Storage, "findDeletedSessions" | "watchDeletions">;
  readonly sandboxes: Pick<Sandboxes, "remove">;
  readonly engine: Pick<RunEngine, "untilLeft">;
  readonly workspaces: Pick<Workspaces, "remove">;
  readonly workspace_root: string;
  /** How often it is looked for what nobody told of. */
  readonly look_ms?: number;
  readonly onError: (error: unknown) => void;
}

type Folder = Pick<Session, "id" | "workspace_path">;

/** What this node has made for sessions that are deleted: nobody else can remove it. */
export interface DeletedFolders {
  /** Removes what was made for a session that is deleted. */
  clear(session: Folder): Promise<void>;
  /** Clears what nobody came to: because a process has died, or because this node was away when it was deleted elsewhere. */
  start(): void;
  stop(): void;
}

const LOOK_MS = 10 * 60_000;
/** So many are asked for at a time. */
const PORTION = 500;

export function createDeletedFolders(options: DeletedFoldersOptions): DeletedFolders {
  const { storage, sandboxes, engine, workspaces, workspace_root: root, look_ms = LOOK_MS, onError } = options;
  let watching: Promise<() => void> | undefined;
  let timer: NodeJS.Timeout | undefined;

  async function clear(session: Folder): Promise<void> {
    await sandboxes.remove(session.id);
    await engine.untilLeft(session.id);
    await workspaces.remove(session);
  }

  /** A folder is no session's because this storage does not know one: it has to say that it was, and is deleted. */
  async function clearDeleted(session_ids: readonly string[]): Promise<void> {
    for (const id of await storage.findDeletedSessions(session_ids)) {
      // One that can't be removed now keeps no other from being.
      await clear({ id, workspace_path: null }).catch(onError);
    }
  }

  async function hear(session_id: string): Promise<void> {
    if (!isMade(session_id) || !existsSync(workspaceOf(root, { id: session_id, workspace_path: null }))) return;
    await engine.untilLeft(session_id);
    await clearDeleted([session_id]);
  }

  async function look(): Promise<void> {
    const made = namesIn(root).filter(isMade);
    for (let at = 0; at < made.length; at += PORTION) await clearDeleted(made.slice(at, at + PORTION));
  }

  return {
    clear,
    start: () => {
      look().catch(onError);
      timer ??= setInterval(() => void look().catch(onError), look_ms);
      timer.unref();
      watching ??= storage.watchDeletions((session_id) => void hear(session_id).catch(onError));
      watching.catch(onError);
    },
    stop: () => {
      clearInterval(timer);
      timer = undefined;
      watching?.then(
        (stop) => stop(),
        () => undefined,
      ); // told when it failed
    },
  };
}

/** The name of a folder that the server made is a session's id, and nothing else. */
function isMade(name: string): boolean {
  return Uuid.safeParse(name).success;
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (hasCode(error, "ENOENT")) return [];
    throw error;
  }
}
