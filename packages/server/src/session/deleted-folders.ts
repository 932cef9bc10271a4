import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { Uuid } from "@cognition/contract";
import type { Storage } from "@cognition/thread";
import type { RunEngine } from "../run/run-engine.ts";
import type { Sandboxes } from "../sandbox/sandbox.ts";
import { workspaceOf } from "./workspace-folder.ts";

export interface DeletedFoldersOptions {
  readonly storage: Pick<Storage, "getSession" | "watchDeletions">;
  readonly sandboxes: Pick<Sandboxes, "remove">;
  readonly engine: Pick<RunEngine, "untilLeft">;
  readonly workspace_root: string;
  readonly forgetFolder: (session: { id: string; workspace_path: null }) => Promise<void>;
  readonly onError: (error: unknown) => void;
}

/** What this node has made for sessions that are deleted through another one: nobody else can remove it. */
export interface DeletedFolders {
  start(): void;
  stop(): void;
}

export function createDeletedFolders(options: DeletedFoldersOptions): DeletedFolders {
  const { storage, onError } = options;
  let watching: Promise<() => void> | undefined;
  return {
    start: () => {
      watching ??= storage.watchDeletions((session_id) => void clear(options, session_id).catch(onError));
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

async function clear(options: DeletedFoldersOptions, session_id: string): Promise<void> {
  const { storage, sandboxes, engine, workspace_root, forgetFolder } = options;
  // The name of a folder that the server made is a session's id, and nothing else.
  if (!Uuid.safeParse(session_id).success) return;
  const session = { id: session_id, workspace_path: null };
  const folder = workspaceOf(workspace_root, session);
  if (!existsSync(folder)) return;
  await engine.untilLeft(session_id);
  if (await storage.getSession(session_id)) return;
  await sandboxes.remove(session_id);
  await rm(folder, { recursive: true, force: true });
  await forgetFolder(session);
}
