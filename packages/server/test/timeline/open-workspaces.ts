import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Session } from "@cognition/contract";
import { type ClaimedRun, openStorage, type Storage } from "@cognition/thread";
import { createTempDir } from "../../../../testing/temp-dir.ts";
import { createWorkspaces, type Workspaces, type WorkspacesOptions } from "../../src/timeline/workspace/workspaces.ts";

export interface OpenedWorkspaces {
  storage: Storage;
  workspaces: Workspaces;
  root: string;
  /** A session with a claimed run; its folder is its own unless a path is given. */
  start(workspace_path?: string): Promise<{ session: Session; lease: ClaimedRun; folder: string }>;
  errors: unknown[];
  close(): Promise<void>;
}

export async function openWorkspaces(
  options: Partial<WorkspacesOptions> = {},
  uri = "memory",
  root?: string,
): Promise<OpenedWorkspaces> {
  const dir = root === undefined ? createTempDir() : { path: root, remove: () => undefined };
  const storage = await openStorage(uri);
  const errors: unknown[] = [];
  const onError = (error: unknown) => errors.push(error);
  const workspaces = createWorkspaces({ snapshots: storage.snapshots, root: dir.path, onError, ...options });
  return {
    storage,
    workspaces,
    root: dir.path,
    errors,
    start: async (workspace_path) => {
      const session = await storage.createSession(workspace_path === undefined ? {} : { workspace_path });
      const folder = join(dir.path, workspace_path ?? session.id);
      mkdirSync(folder, { recursive: true });
      await storage.createRun({ session_id: session.id });
      const lease = await storage.claimRun({ owner: "test", lease_ms: 60_000, session_id: session.id });
      if (!lease) throw new Error("the run was not given");
      return { session, lease, folder };
    },
    close: async () => {
      await workspaces.close();
      await storage.close();
      dir.remove();
    },
  };
}

/** Moves the files of a session to a snapshot, as a rewind does. */
export async function moveTo(
  { storage, workspaces }: OpenedWorkspaces,
  session: Session,
  snapshot_id: string,
): Promise<void> {
  const missing = await storage.snapshots.saveSnapshot({
    thread_id: session.thread_id,
    snapshot_id,
    objects: [],
    bytes: 0,
  });
  if (missing.length > 0) throw new Error(`missing: ${missing}`);
  await workspaces.settle(session, false);
}
