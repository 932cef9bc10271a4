import { isAppError, type Session } from "@cognition/contract";
import { EMPTY_TREE } from "@cognition/thread";
import { captureFolder } from "./capture-folder.ts";
import { isEmptyFolder } from "./empty-folder.ts";
import { toBytes } from "./held-folder.ts";
import type { PathChange } from "./path-change.ts";
import { applyRestore, lookAt, type Restore } from "./restore-folder.ts";
import type { RunWorkspaceParts } from "./run-workspace.ts";
import { createStoredTrees } from "./stored-trees.ts";

export type WorkspacePlace = Pick<Session, "id" | "thread_id" | "scopes" | "workspace_path">;

export interface FolderSync {
  /** The snapshot where the thread's files stand, for every node. */
  standing(session: WorkspacePlace): Promise<string>;
  /** Where this node's folder stands; undefined where nobody can tell. */
  found(session: WorkspacePlace, folder: string): Promise<string | undefined>;
  /**
   * Brings the folder there. With `overwrite`, also over what nobody knows of, but for a folder in the place of a file and
   * the other way round; that is kept beside it, as everything is otherwise. Says
   * whether it stood there already, and then whether nothing is in it.
   */
  bring(
    session: WorkspacePlace,
    folder: string,
    to: string,
    as: { own: boolean; overwrite: boolean },
  ): Promise<{ there: boolean; empty: boolean }>;
}

export function createFolderSync(parts: RunWorkspaceParts, now: () => number): FolderSync {
  const { store, thread, markers } = parts;

  const isEmpty = (folder: string) => isEmptyFolder(folder, ".cognition");

  async function found(session: WorkspacePlace, folder: string): Promise<string | undefined> {
    return (await markers.read(session.id, folder)) ?? (isEmpty(folder) ? EMPTY_TREE : undefined);
  }

  /** What nobody knows of is kept beside what takes its place. */
  async function setAside(root: string, changes: readonly PathChange[], suffix: string): Promise<void> {
    const states = await lookAt(parts, { root, changes });
    const unknown = changes.filter((_, i) => states[i] === "other");
    await thread.ask("setAside", { root, changes: unknown, suffix });
  }

  async function restore(wanted: Restore, overwrite: boolean): Promise<void> {
    const aside = `.local-${now().toString(36)}`;
    if (!overwrite) await setAside(wanted.root, wanted.changes, aside);
    return applyRestore(parts, { ...wanted, aside });
  }

  /**
   * A folder that was left behind may stand at a snapshot that was swept since. One of the session's own that is as it was
   * then is stored anew, and gone on from; in any other nobody can tell what is whose.
   */
  async function changesTo(
    { scopes: scope }: WorkspacePlace,
    folder: string,
    { from, to, own }: { from: string; to: string; own: boolean },
  ): Promise<PathChange[]> {
    const trees = createStoredTrees(store, scope);
    try {
      return await trees.diff(from, to);
    } catch (error) {
      if (!isAppError(error, "snapshot_not_found")) throw error;
      // Where it is this one that is gone, the folder says nothing about it.
      await trees.entries([to]);
      if (!own) return [];
      const { tree } = await captureFolder(parts, { scope, root: toBytes(folder) }).catch(noneIfFull);
      return trees.diff(tree === from ? from : EMPTY_TREE, to);
    }
  }

  return {
    standing: async ({ thread_id }) => (await store.currentSnapshot(thread_id)) ?? EMPTY_TREE,
    found,
    bring: async (session, folder, to, { own, overwrite }) => {
      const marked = await markers.read(session.id, folder);
      const empty = (marked ?? EMPTY_TREE) === EMPTY_TREE && isEmpty(folder);
      const from = marked ?? (empty ? EMPTY_TREE : undefined);
      if (from === to) return { there: true, empty };
      // A folder that others work in and that we know nothing of is taken as it is.
      if (from !== undefined || own) {
        const changes = await changesTo(session, folder, { from: from ?? EMPTY_TREE, to, own });
        await restore({ scope: session.scopes, root: toBytes(folder), changes }, overwrite);
      }
      await markers.write(session.id, folder, to);
      return { there: false, empty: false };
    },
  };
}

function noneIfFull(error: unknown): { tree: undefined } {
  if (!isAppError(error, "limit_exceeded")) throw error;
  return { tree: undefined };
}
