import type { NewSnapshotObject } from "@cognition/thread";
import { encodeTree, encodeTreeChange, hashBlob, sortEntries, type TreeEntry } from "@cognition/thread/snapshot-tree";
import { toBytes } from "./held-folder.ts";
import { ignoreRules } from "./ignore-rules.ts";
import { inFolders } from "./in-folders.ts";
import { isSameEntry, type PathChange } from "./path-change.ts";
import { readLink, readRegular } from "./read-entry.ts";
import { type ScanOptions, scanWorkspace } from "./scan-workspace.ts";
import { isFolder, type Scanned, type ScannedFolder } from "./scanned-folder.ts";
import type { ScanLimits } from "./workspace-request.ts";

/** Scans whose trees are remembered: what comes next is told as a difference to one of them. */
const TREES_KEPT = 4;
/** And of those that are held: a run that was lost in the middle of a tool lets go of none. */
const TREES_HELD = 256;
/** Contents that a scan has read are kept for whoever stores them, up to this; the rest is read again. */
const CONTENT_BYTES = 64 * 1024 * 1024;
/** So much is handed over at a time. */
const READ_BYTES = 4 * 1024 * 1024;
/** A tree is kept as a change of the one before while that takes less than writing it whole, and not for ever. */
const MAX_CHAIN = 256;

interface NewObject {
  path: string;
  kind: "blob" | "tree";
  folder?: ScannedFolder;
  before?: ScannedFolder | undefined;
}

interface Collecting {
  prefix: string;
  only: "files" | undefined;
}

/** What one process knows of one workspace's folder. */
export class ScannedWorkspace {
  readonly #root: string;
  readonly #options: Omit<ScanOptions, "onContent">;
  readonly #trees = new Map<string, ScannedFolder>();
  /** Those that somebody will ask the changes since, and how many do. */
  readonly #holds = new Map<string, { folder: ScannedFolder; holders: number }>();
  #latest: ScannedFolder | undefined;
  #contents = new Map<string, Buffer>();
  #held = 0;
  #objects = new Map<string, NewObject>();

  constructor(root: string, { ignore, ...options }: ScanLimits & Pick<ScanOptions, "now">) {
    this.#root = root;
    this.#options = {
      ...options,
      rules: ignore.length > 0 ? ignoreRules(undefined, "", toBytes(ignore.join("\n"))) : undefined,
    };
  }

  /**
   * The tree as it is now, and the names of all objects that `base` does not have; all of them if it isn't known here. Where
   * only files are asked for, their folders are not among them.
   */
  scan(base: string | undefined, only?: "files"): { tree: string; objects: string[] } {
    const onContent = (hash: string, content: Buffer) => this.#keep(hash, content);
    const now = scanWorkspace(this.#root, this.#latest, { ...this.#options, onContent });
    this.#latest = now;
    this.#trees.delete(now.entry.hash);
    this.#trees.set(now.entry.hash, now);
    for (const hash of this.#trees.keys()) if (this.#trees.size > TREES_KEPT) this.#trees.delete(hash);
    this.#objects = new Map();
    this.#collect(now, base === undefined ? undefined : this.#known(base), { prefix: "", only });
    return { tree: now.entry.hash, objects: [...this.#objects.keys()] };
  }

  /** The first of these objects of the last scan, as many as go together. Undefined when a file has changed: scan again. */
  read(hashes: readonly string[]): NewSnapshotObject[] | undefined {
    const objects: NewSnapshotObject[] = [];
    let bytes = 0;
    for (const hash of hashes) {
      if (bytes > READ_BYTES) break;
      const object = this.#objects.get(hash);
      const read =
        object && (object.folder ? readTree(hash, object.folder, object.before) : this.#readBlob(hash, object));
      if (!read) return undefined;
      objects.push(read);
      bytes += read.content.length;
    }
    return objects;
  }

  /** Until it is released as often as it was held, a scan is not forgotten for others. */
  hold(tree: string): void {
    const folder = this.#known(tree);
    if (!folder) return;
    const holders = (this.#holds.get(tree)?.holders ?? 0) + 1;
    this.#holds.delete(tree);
    this.#holds.set(tree, { folder, holders });
    for (const oldest of this.#holds.keys()) if (this.#holds.size > TREES_HELD) this.#holds.delete(oldest);
  }

  release(tree: string): void {
    const held = this.#holds.get(tree);
    if (!held) return;
    if (held.holders > 1) this.#holds.set(tree, { ...held, holders: held.holders - 1 });
    else this.#holds.delete(tree);
  }

  #known(tree: string): ScannedFolder | undefined {
    return this.#trees.get(tree) ?? this.#holds.get(tree)?.folder;
  }

  /** What has changed between two scans; undefined if one of them is forgotten. */
  changes(from: string, to: string): PathChange[] | undefined {
    const [before, after] = [this.#known(from), this.#known(to)];
    if (!before || !after) return undefined;
    const changes: PathChange[] = [];
    compare(before, after, "", changes);
    return changes;
  }

  /** Whether somebody is about to read what the last scan has found, or to ask the changes since one. */
  get isAwaited(): boolean {
    return this.#objects.size > 0 || this.#holds.size > 0;
  }

  /** Everything is stored, or not wanted: what was kept for storing it can go. */
  settle(): void {
    this.#objects = new Map();
    this.#contents = new Map();
    this.#held = 0;
  }

  #keep(hash: string, content: Buffer): void {
    if (this.#held + content.length > CONTENT_BYTES) return;
    this.#held += content.length;
    this.#contents.set(hash, content);
  }

  #collect(now: ScannedFolder, before: ScannedFolder | undefined, { prefix, only }: Collecting): void {
    if (before?.entry.hash === now.entry.hash) return;
    for (const [name, child] of now.children) {
      const was = before?.children.get(name);
      const path = `${prefix}${name}`;
      if (isFolder(child)) this.#collect(child, isFolder(was) ? was : undefined, { prefix: `${path}/`, only });
      // Also one of which no more than its mode is other: that `base` names it need not mean that it is stored.
      else if (child.entry.type !== "unstored" && !isEqual(was?.entry, child.entry))
        this.#objects.set(child.entry.hash, { path, kind: "blob" });
    }
    if (only === undefined) this.#objects.set(now.entry.hash, { path: prefix, kind: "tree", folder: now, before });
  }

  #readBlob(hash: string, { path }: NewObject): NewSnapshotObject | undefined {
    const content = this.#contents.get(hash) ?? this.#readAgain(path);
    return content && hashBlob(content) === hash ? { hash, kind: "blob", content } : undefined;
  }

  #readAgain(path: string): Buffer | undefined {
    let content: Buffer | undefined;
    inFolders(this.#root, [{ path, before: null, after: null }], (folder, name) => {
      if (!folder) return;
      content = readRegular(folder, name, this.#options.maxFileBytes)?.content ?? readLink(folder, name);
    });
    return content;
  }
}

function readTree(hash: string, folder: ScannedFolder, before: ScannedFolder | undefined): NewSnapshotObject {
  const change = before?.stored ? changeOf(before, folder) : undefined;
  const content = change && encodeTreeChange(change);
  const chain = (before?.stored?.chain ?? 0) + 1;
  const bytes = (before?.stored?.bytes ?? 0) + (content?.length ?? 0);
  if (change && content && chain <= MAX_CHAIN && bytes <= folder.size) {
    folder.stored = { chain, bytes };
    return { hash, kind: "tree", content, base: change.base };
  }
  folder.stored = { chain: 0, bytes: 0 };
  return {
    hash,
    kind: "tree",
    content: encodeTree(sortEntries([...folder.children.values()].map(({ entry }) => entry))),
  };
}

function changeOf(before: ScannedFolder, now: ScannedFolder): { base: string; set: TreeEntry[]; gone: string[] } {
  const set = [...now.children]
    .filter(([name, { entry }]) => !isEqual(before.children.get(name)?.entry, entry))
    .map(([, { entry }]) => entry);
  const gone = [...before.children.keys()].filter((name) => !now.children.has(name));
  return { base: before.entry.hash, set, gone };
}

function isEqual(a: TreeEntry | undefined, b: TreeEntry): boolean {
  return a !== undefined && a.type === b.type && a.mode === b.mode && a.hash === b.hash;
}

function compare(before: ScannedFolder, after: ScannedFolder, prefix: string, changes: PathChange[]): void {
  if (before.entry.hash === after.entry.hash) return;
  for (const name of new Set([...before.children.keys(), ...after.children.keys()])) {
    const [was, is] = [before.children.get(name), after.children.get(name)];
    if (was === is) continue;
    const path = `${prefix}${name}`;
    const change = { path, before: was?.entry ?? null, after: is?.entry ?? null };
    if (!isSameEntry(change.before, change.after)) changes.push(change);
    compare(folderOf(was, before), folderOf(is, after), `${path}/`, changes);
  }
}

/** Of a file, or of nothing: a folder with nothing in it. */
function folderOf(scanned: Scanned | undefined, like: ScannedFolder): ScannedFolder {
  return isFolder(scanned) ? scanned : { ...like, entry: { ...like.entry, hash: "" }, children: new Map() };
}
