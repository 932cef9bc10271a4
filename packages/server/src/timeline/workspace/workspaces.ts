import { readdir } from "node:fs/promises";
import type { FileChange, Scope } from "@cognition/contract";
import { EMPTY_TREE, type Lease, type SnapshotStore } from "@cognition/thread";
import { hasCode } from "../../file/error-text.ts";
import { resolveExisting } from "../../file/resolve-existing.ts";
import { createTurns } from "../../file/turns.ts";
import { keepOpen, noFolder, ownsFolder, workspaceOf } from "../../session/workspace-folder.ts";
import { captureFolder } from "./capture-folder.ts";
import { describeChanges } from "./describe-changes.ts";
import { createFolderMarkers } from "./folder-marker.ts";
import { createFolderSync, type WorkspacePlace } from "./folder-sync.ts";
import { toBytes, toText } from "./held-folder.ts";
import type { PathChange } from "./path-change.ts";
import { removeFolder } from "./remove-folder.ts";
import { applyRestore, lookAt } from "./restore-folder.ts";
import { openRunWorkspace, type RunWorkspace, type RunWorkspaceParts, storeFolder } from "./run-workspace.ts";
import { SNAPSHOT_LIMITS } from "./snapshot-limits.ts";
import { createStoredTrees } from "./stored-trees.ts";
import { createWorkspaceThread, type WorkspaceThread } from "./workspace-thread.ts";

export interface WorkspacesOptions {
  snapshots: SnapshotStore;
  /** Where sessions have their folders, an absolute path. */
  root: string;
  /** Larger files are not part of snapshots. */
  max_file_bytes?: number;
  /** What the snapshots of one scope may take. */
  quota_bytes?: number;
  /** What is not part of snapshots at any depth, as a `.gitignore` would say it; the folder's own ones go over it. */
  exclude?: readonly string[];
  /** Files of the server's own, absolute: neither stored nor restored, wherever they lie. */
  never?: readonly string[];
  now?: () => number;
  /** What looks at files and writes them. */
  thread?: WorkspaceThread;
  /** A step whose files could not be stored; its run goes on. */
  onError(error: unknown): void;
}

type Folder = Pick<WorkspacePlace, "id" | "workspace_path">;

export interface LookedAt {
  tree: string;
  /** The names of all that it leads to; none where the files stand there anyway. */
  objects: readonly string[];
}

/** The folders of sessions on this node, and where they stand in the storage. */
export interface Workspaces {
  /** Finishes a restore, brings this node's folder to where the files stand, and takes in what people did meanwhile. */
  begin(session: WorkspacePlace, lease: Lease): Promise<RunWorkspace>;
  /** What going from one snapshot to the other would change, and which files of this node's folder are in the way. */
  plan(session: WorkspacePlace, from: string, to: string): Promise<{ changes: PathChange[]; conflicts: string[] }>;
  /** Brings this node's folder to where the files stand, if it has one. Safe to repeat. */
  settle(session: WorkspacePlace, overwrite: boolean): Promise<void>;
  /** Brings the folder of a fork to where its files stand, from the other's folder as far as that has them. */
  cloneFrom(parent: WorkspacePlace, fork: WorkspacePlace): Promise<void>;
  /**
   * Stores the files as they are now, without making that the place where they stand. Another node may have worked on them
   * since this one had them: its folder is brought there first.
   */
  look(session: WorkspacePlace): Promise<LookedAt>;
  /**
   * Somebody changes files of a session that no run is at work on: they stand there then, for every node. A folder that is
   * not the session's own is only changed. `session_busy` if a run has begun meanwhile on another node.
   */
  change<T>(session: WorkspacePlace, work: () => Promise<T>): Promise<T>;
  /** Where the thread's files stand. */
  standing(session: WorkspacePlace): Promise<string>;
  /** The session is deleted: so is the folder that the server made for it, and the note of where it stood. */
  remove(session: Folder): Promise<void>;
  diff(scope: Scope, from: string, to: string): Promise<FileChange[]>;
  describe(scope: Scope, changes: readonly PathChange[]): Promise<FileChange[]>;
  close(): Promise<void>;
}

export function createWorkspaces(options: WorkspacesOptions): Workspaces {
  const { snapshots, root } = options;
  const parts = partsOf(options);
  const sync = createFolderSync(parts, options.now ?? Date.now);
  const { turn } = parts;
  const inTurn = <T>(session: Folder, work: (folder: string) => Promise<T>): Promise<T> => {
    const folder = workspaceOf(root, session);
    return turn(folder, () => {
      if (ownsFolder(session)) keepOpen(folder);
      return work(folder);
    });
  };

  return {
    begin: async (session, lease) => {
      const own = ownsFolder(session);
      // Before its turn: under the lease nobody else moves it, and whoever shares the folder need not wait for the answer.
      const stood = await sync.standing(session);
      return inTurn(session, async (folder) => {
        const { there, empty } = await sync.bring(session, folder, stood, { own, overwrite: false });
        return openRunWorkspace(parts, { session, lease, folder, stood, own, empty: there && empty });
      });
    },
    plan: async (session, from, to) => {
      const changes = await createStoredTrees(snapshots, session.scopes).diff(from, to);
      return inTurn(session, async (folder) => {
        // Where another node has the files, it is seen there whether something is in the way.
        const here = (await isThere(folder)) && (await sync.found(session, folder)) === from;
        const conflicts = here ? await conflictsIn(parts, folder, changes) : [];
        return { changes, conflicts };
      });
    },
    settle: (session, overwrite) =>
      inTurn(session, async (folder) => {
        if (!(await isThere(folder))) return;
        const own = ownsFolder(session);
        await sync.bring(session, folder, await sync.standing(session), { own, overwrite });
      }),
    cloneFrom: (parent, fork) =>
      inTurn(fork, async (folder) => {
        const to = await sync.standing(fork);
        const changes = await createStoredTrees(snapshots, fork.scopes).diff(EMPTY_TREE, to);
        const restore = { scope: fork.scopes, root: toBytes(folder), changes };
        const source = workspaceOf(root, parent);
        // Files that lie here are cloned; where another node has them, they come from the storage.
        await applyRestore(parts, { ...restore, ...((await isThere(source)) && { source: toBytes(source) }) });
        await parts.markers.write(fork.id, folder, to);
      }),
    look: (session) =>
      inTurn(session, async (folder) => {
        const stood = await sync.standing(session);
        if (!(await isThere(folder))) return { tree: stood, objects: [] };
        await sync.bring(session, folder, stood, { own: ownsFolder(session), overwrite: false });
        const place = { scope: session.scopes, root: toBytes(folder) };
        return captureFolder(parts, place);
      }),
    change: (session, work) =>
      inTurn(session, async (folder) => {
        const own = ownsFolder(session);
        const stood = await sync.standing(session);
        await sync.bring(session, folder, stood, { own, overwrite: false });
        const done = await work();
        if (own) await storeFolder(parts, { session, folder, stood });
        return done;
      }),
    standing: sync.standing,
    remove: (session) =>
      inTurn(session, async (folder) => {
        if (ownsFolder(session)) await removeFolder(folder);
        await parts.markers.remove(session.id);
      }),
    diff: async (scope, from, to) =>
      describeChanges(snapshots, scope, await createStoredTrees(snapshots, scope).diff(from, to)),
    describe: (scope, changes) => describeChanges(snapshots, scope, changes),
    close: () => parts.thread.close(),
  };
}

function partsOf(options: WorkspacesOptions): RunWorkspaceParts {
  return {
    store: options.snapshots,
    thread: options.thread ?? createWorkspaceThread(),
    limits: {
      maxFileBytes: options.max_file_bytes ?? SNAPSHOT_LIMITS.max_file_bytes,
      exclude: [".cognition"],
      ignore: options.exclude ?? SNAPSHOT_LIMITS.exclude,
      never: (options.never ?? []).flatMap((path) => [path, resolveExisting(path)]).map(toBytes),
    },
    quota_bytes: options.quota_bytes ?? SNAPSHOT_LIMITS.quota_bytes,
    markers: createFolderMarkers(options.root),
    turn: createTurns(),
    onError: options.onError,
  };
}

/** The files in whose place there is something that nobody knows of. */
async function conflictsIn(
  parts: RunWorkspaceParts,
  folder: string,
  changes: readonly PathChange[],
): Promise<string[]> {
  const states = await lookAt(parts, { root: toBytes(folder), changes });
  return changes.filter((_, i) => states[i] === "other").map(({ path }) => toText(path));
}

async function isThere(folder: string): Promise<boolean> {
  try {
    await readdir(folder);
    return true;
  } catch (error) {
    if (hasCode(error, "ENOENT")) return false;
    throw hasCode(error, "ENOTDIR") ? noFolder(folder) : error;
  }
}
