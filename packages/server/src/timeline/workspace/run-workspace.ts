import { AppError, type ErrorCode, isAppError, type Session } from "@cognition/contract";
import { EMPTY_TREE, type Lease } from "@cognition/thread";
import type { Turns } from "../../file/turns.ts";
import { retryStorage } from "../../run/retry-storage.ts";
import { type CaptureParts, captureFolder } from "./capture-folder.ts";
import { editTree } from "./edit-tree.ts";
import { isEmptyFolder } from "./empty-folder.ts";
import type { FolderMarkers } from "./folder-marker.ts";
import { toBytes } from "./held-folder.ts";
import type { PathChange } from "./path-change.ts";
import { createStoredTrees } from "./stored-trees.ts";

/** The files of a run's session, as the run keeps track of them. */
export interface RunWorkspace {
  /** Where the files stand, as far as it is stored. */
  readonly snapshot_id: string;
  /** The files of a step that ends now; undefined where they could not be stored: those of before are not its. */
  readonly ofStep: string | undefined;
  /** A tool that may write is about to start. */
  before(): Promise<void>;
  /**
   * A tool that may write has ended, or was stopped: its changes are stored when this resolves. Given a signal, it waits
   * for a storage that is away or has no room, until that aborts.
   */
  after(waiting?: AbortSignal): Promise<void>;
  /**
   * Code that writes to the folder as it likes has come to the end of a step: as `after`. Only in a folder of the
   * session's own: in a shared one nobody knows whose changes they are.
   */
  step(): Promise<void>;
}

interface KeptFolder {
  session: Pick<Session, "id" | "thread_id" | "scopes">;
  folder: string;
  /** The snapshot where the files stand. */
  stood: string;
  /** Whether nobody else works in the folder. */
  own: boolean;
  /** Without one, nothing is stored while a run is at work. */
  lease?: Lease;
}

export interface RunPlace extends KeptFolder {
  lease: Lease;
  /** Whether there is nothing in the folder, and no note says that there was. */
  empty: boolean;
}

export interface RunWorkspaceParts extends CaptureParts {
  markers: FolderMarkers;
  turn: Turns;
  /** A step whose files could not be stored: it can't be gone back to with its files, and the run goes on. */
  onError(error: unknown): void;
}

/** Errors that say that the run is not this node's any more, or that nothing can be stored at all. */
const OF_THE_RUN: readonly ErrorCode[] = [
  "stale_epoch",
  "run_ended",
  "thread_deleted",
  "thread_not_found",
  "run_not_found",
  "session_busy",
  "storage_unavailable",
  "storage_closed",
  "draining",
];

const SWEPT = "The files of the workspace were swept while they were being stored";
const ATTEMPTS = 3;

/** The caller has brought the folder to where the files stand, and holds its turn. */
export async function openRunWorkspace(parts: RunWorkspaceParts, place: RunPlace): Promise<RunWorkspace> {
  const keeper = new Keeper(parts, place);
  const { session, folder, own, stood, empty } = place;
  if (!empty && (own || stood === EMPTY_TREE)) await keeper.attempt(() => keeper.takeAll());
  const mark = () => parts.markers.write(session.id, folder, keeper.snapshot_id);
  // An empty folder tells by itself where it stands, until something may be written to it.
  if (!empty) await mark();
  return {
    get snapshot_id() {
      return keeper.snapshot_id;
    },
    get ofStep() {
      return keeper.isStored ? keeper.snapshot_id : undefined;
    },
    before: () =>
      parts.turn(folder, async () => {
        await mark();
        await keeper.attempt(() => keeper.before());
      }),
    after: (waiting) => {
      keeper.leave();
      const store = () => parts.turn(folder, () => keeper.attempt(() => keeper.after()));
      return waiting ? patiently(parts, waiting, store) : store();
    },
    step: async () => {
      if (own) await parts.turn(folder, () => keeper.attempt(() => keeper.step()));
    },
  };
}

/** Makes the folder, which is the session's own, the place where its files stand. The caller holds its turn. */
export async function storeFolder(parts: RunWorkspaceParts, place: Omit<KeptFolder, "own" | "lease">): Promise<void> {
  const keeper = new Keeper(parts, { ...place, own: true });
  await keeper.attempt(() => keeper.takeAll());
}

/** Whoever looks after the server learns once what a run waits for. */
async function patiently(
  { onError }: RunWorkspaceParts,
  signal: AbortSignal,
  store: () => Promise<void>,
): Promise<void> {
  let told = false;
  await retryStorage(signal, () =>
    store().catch((error) => {
      const waits = isAppError(error, "storage_unavailable");
      if (waits && !told) onError(error);
      told ||= waits;
      throw error;
    }),
  );
}

class Keeper {
  readonly #parts: RunWorkspaceParts;
  readonly #place: KeptFolder;
  readonly #at: { scope: Session["scopes"]; root: string };
  snapshot_id: string;
  /** Whether the folder is, as far as it is ours, what the snapshot holds. */
  isStored = true;
  /** The folder as it was before what the tools have done that is not stored yet; only where others work in it too. */
  #seen: string | undefined;
  /** Whether something that the tools have done will never be: nobody can tell any more what it was. */
  #isMissed = false;
  #active = 0;

  constructor(parts: RunWorkspaceParts, place: KeptFolder) {
    this.#parts = parts;
    this.#place = place;
    this.#at = { scope: place.session.scopes, root: toBytes(place.folder) };
    this.snapshot_id = place.stood;
  }

  async attempt(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (isAppError(error, ...OF_THE_RUN)) throw error;
      this.isStored = false;
      this.#parts.onError(error);
    }
  }

  async before(): Promise<void> {
    const { thread, limits } = this.#parts;
    if (this.#active++ > 0 || this.#place.own || this.#seen !== undefined) return;
    await this.#see((await thread.ask("scan", { root: this.#at.root, limits })).tree);
  }

  /** However much others do in the folder meanwhile, it can be told what has changed since. */
  async #see(tree: string | undefined): Promise<void> {
    const { thread } = this.#parts;
    const { root } = this.#at;
    if (tree !== undefined) await thread.ask("hold", { root, tree });
    if (this.#seen !== undefined) await thread.ask("release", { root, tree: this.#seen });
    this.#seen = tree;
  }

  /** One of the tools that write has ended. */
  leave(): void {
    this.#active = Math.max(0, this.#active - 1);
  }

  async after(): Promise<void> {
    await (this.#place.own ? this.takeAll() : this.#takeChanges());
  }

  async step(): Promise<void> {
    if (this.snapshot_id === EMPTY_TREE && isEmptyFolder(this.#place.folder)) return;
    await this.takeAll();
  }

  /** All that is in the folder. What was swept while it was being named is stored again. */
  async takeAll(): Promise<void> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const { tree, objects, bytes } = await captureFolder(this.#parts, { ...this.#at, base: this.snapshot_id });
      if (await this.#save(tree, objects, bytes)) return;
    }
    throw new AppError("storage_busy", SWEPT);
  }

  /** Only what changed while our tools were at work: the rest of the folder is others'. */
  async #takeChanges(): Promise<void> {
    const seen = this.#seen;
    if (seen === undefined) return;
    const { thread } = this.#parts;
    const { scope, root } = this.#at;
    // The folders as they are here are others' too, and nothing leads to them: stored, they would be swept.
    const { tree, objects, bytes } = await captureFolder(this.#parts, { scope, root, base: seen, only: "files" });
    const changes = await thread.ask("changes", { root, from: seen, to: tree });
    this.#isMissed ||= !changes;
    if (changes && changes.length > 0) await this.#saveChanges(changes, objects, bytes);
    // Not before: if it fails, all of it is still to be stored.
    await this.#see(this.#active > 0 ? tree : undefined);
    if (!changes) throw new AppError("internal", "What the tools have changed can't be told any more");
  }

  async #saveChanges(changes: readonly PathChange[], objects: readonly string[], bytes: number): Promise<void> {
    const { store } = this.#parts;
    const { scope } = this.#at;
    const edited = await editTree(createStoredTrees(store, scope), this.snapshot_id, changes);
    const added = await store.putObjects(scope, edited.objects);
    const named = [...edited.objects.map(({ hash }) => hash), ...objects];
    if (!(await this.#save(edited.tree, named, bytes + added))) throw new AppError("storage_busy", SWEPT);
  }

  async #save(tree: string, objects: readonly string[], bytes: number): Promise<boolean> {
    const isSaved = tree === this.snapshot_id || (await this.#move(tree, objects, bytes));
    if (isSaved && !this.#isMissed) this.isStored = true;
    return isSaved;
  }

  async #move(tree: string, objects: readonly string[], bytes: number): Promise<boolean> {
    const { session, lease, folder } = this.#place;
    const { thread_id } = session;
    const by = lease ? { lease } : { unless_held: true };
    const snapshot = { thread_id, snapshot_id: tree, objects, bytes, ...by };
    if ((await this.#parts.store.saveSnapshot(snapshot)).length > 0) return false;
    this.snapshot_id = tree;
    await this.#parts.markers.write(session.id, folder, tree);
    return true;
  }
}
