import { lstatSync, readdirSync, type Stats } from "node:fs";
import { type EntryType, encodeTree, hashTree, sortEntries, unstoredEntry } from "@cognition/thread/snapshot-tree";
import { hasCode } from "../../file/error-text.ts";
import { isUnfinished } from "../../file/unfinished.ts";
import { fsPath, isGone, LazyFolder } from "./held-folder.ts";
import { type IgnoreRules, ignoreRules, isIgnored } from "./ignore-rules.ts";
import { isClosedTo, readRegular } from "./read-entry.ts";
import { isRacy, scanFile } from "./scan-file.ts";
import { isFolder, type Scanned, type ScannedFolder } from "./scanned-folder.ts";

export interface ScanOptions {
  /** Larger files are left out. */
  readonly maxFileBytes: number;
  /** Names in the root that are not the workspace's: the server's own. */
  readonly exclude: readonly string[];
  /** Files that are never read, by their whole path: the server's database may lie in the workspace. */
  readonly never?: readonly string[];
  /** What the folder's own `.gitignore` files go over. The same object for each scan of it. */
  readonly rules?: IgnoreRules | undefined;
  readonly now: () => number;
  /** Is handed what a file that had to be read holds. */
  readonly onContent?: (hash: string, content: Buffer) => void;
}

/** Each folder on the way may hold a descriptor, of which a process has about a thousand. */
const MAX_DEPTH = 200;
const MODE = 0o777;
const QUIETLY = { throwIfNoEntry: false } as const;
const NEVER_READ = { size: 0, mtimeMs: 0, ctimeMs: 0, ino: 0, racy: false };
const AS_BYTES = { encoding: "latin1" } as const;

/**
 * What the folder holds now; of what is left out, that it is there. Only files whose size, times, inode or mode differ from before are read.
 *
 * Looking goes by path, which is twice as fast as through a descriptor; reading goes through folders held open. A folder
 * that a command swaps for a link in between can so be looked at, but nothing of it is ever read.
 */
export function scanWorkspace(root: string, before: ScannedFolder | undefined, options: ScanOptions): ScannedFolder {
  const stats = lstatSync(fsPath(root));
  const folder = new LazyFolder(root);
  try {
    return new FolderScan(options, { folder, above: options.rules, prefix: "", depth: 0 }).run("", stats, before, 0);
  } finally {
    folder.close();
  }
}

interface Place {
  folder: LazyFolder;
  above: IgnoreRules | undefined;
  /** The folder's path from the root with a slash at its end; empty for the root. */
  prefix: string;
  depth: number;
}

class FolderScan {
  readonly #options: ScanOptions;
  readonly #place: Place;
  #rules: IgnoreRules | undefined;
  /** The folder as it was, if the rules are those that it was looked at with. */
  #known: ScannedFolder | undefined;
  readonly #children = new Map<string, Scanned>();
  readonly #ignored = new Set<string>();

  constructor(options: ScanOptions, place: Place) {
    this.#options = options;
    this.#place = place;
  }

  run(name: string, stats: Stats, before: ScannedFolder | undefined, mode: number): ScannedFolder {
    const started = this.#options.now();
    const names = this.#namesIn(stats, before);
    this.#rules = this.#rulesIn(names, before);
    this.#known = before?.rules === this.#rules ? before : undefined;
    let same = before !== undefined;
    for (const child of names) {
      if (this.#isExcluded(child)) continue;
      const was = before?.children.get(child);
      const is = this.#look(child, was);
      if (is) this.#children.set(child, is);
      same &&= is === was;
    }
    const { mtimeMs, ctimeMs, ino } = stats;
    const look = { names, mtimeMs, ctimeMs, ino, racy: isRacy(stats, started) };
    const whole = this.#known && same && this.#children.size === before?.children.size && mode === before.entry.mode;
    if (before && whole && before.look.names === names && !look.racy) return before;
    return this.#make(name, mode, look, before);
  }

  /** A folder whose times are as they were has the same names in it. */
  #namesIn({ mtimeMs, ctimeMs, ino }: Stats, before: ScannedFolder | undefined): readonly string[] {
    const look = before?.look;
    const same = look && !look.racy && look.mtimeMs === mtimeMs && look.ctimeMs === ctimeMs && look.ino === ino;
    return same ? look.names : readdirSync(fsPath(this.#place.folder.path), AS_BYTES);
  }

  #make(name: string, mode: number, look: ScannedFolder["look"], before: ScannedFolder | undefined): ScannedFolder {
    const content = encodeTree(sortEntries([...this.#children.values()].map(({ entry }) => entry)));
    const hash = hashTree(content);
    const stored = before?.entry.hash === hash ? before.stored : undefined;
    const found = { children: this.#children, rules: this.#rules, ignored: this.#ignored, look };
    return { ...found, entry: { name, type: "tree", mode, hash }, size: content.length, stored };
  }

  #isExcluded(name: string): boolean {
    if (name.charCodeAt(0) !== 46) return this.#place.depth === 0 && this.#options.exclude.includes(name);
    return name === ".git" || isUnfinished(name) || (this.#place.depth === 0 && this.#options.exclude.includes(name));
  }

  /** The same rules as before if the folder's file and those above it say the same. */
  #rulesIn(names: readonly string[], before: ScannedFolder | undefined): IgnoreRules | undefined {
    const { folder, above, prefix } = this.#place;
    if (!names.includes(".gitignore")) return above;
    const text = readRegular(folder.hold(), ".gitignore", this.#options.maxFileBytes)?.content.toString("latin1") ?? "";
    const known = before?.rules;
    if (known && known.above === above && known.prefix === prefix && known.text === text) return known;
    return ignoreRules(above, prefix, text);
  }

  #look(name: string, was: Scanned | undefined): Scanned | undefined {
    const path = `${this.#place.folder.path}/${name}`;
    const stats = lstatSync(fsPath(path), QUIETLY);
    if (!stats) return undefined;
    const stored = this.#options.never?.includes(path) ? undefined : this.#store(name, stats, was);
    if (stored) return stored;
    return was?.entry.type === "unstored" ? was : { entry: unstoredEntry(name), ...NEVER_READ };
  }

  /** Undefined for what is left out. */
  #store(name: string, stats: Stats, was: Scanned | undefined): Scanned | undefined {
    const { folder, prefix } = this.#place;
    const type = typeOf(stats);
    if (!type) return undefined;
    const settled = this.#known !== undefined && was?.entry.type === type;
    if (!settled && this.#isIgnored(type === "tree" ? `${name}/` : name, prefix)) return undefined;
    if (type === "tree") return this.#enter(name, stats, isFolder(was) ? was : undefined);
    const before = isFolder(was) ? undefined : was;
    return scanFile(folder, name, { type, stats, was: before, options: this.#options });
  }

  #isIgnored(name: string, prefix: string): boolean {
    if (!this.#rules) return false;
    const ignored = this.#known?.ignored.has(name) || isIgnored(this.#rules, `${prefix}${name}`);
    if (ignored) this.#ignored.add(name);
    return ignored;
  }

  #enter(name: string, stats: Stats, was: ScannedFolder | undefined): ScannedFolder | undefined {
    const { folder, prefix, depth } = this.#place;
    if (depth >= MAX_DEPTH) return undefined;
    const inner = new LazyFolder(`${folder.path}/${name}`, folder, name);
    const place = { folder: inner, above: this.#rules, prefix: `${prefix}${name}/`, depth: depth + 1 };
    try {
      return new FolderScan(this.#options, place).run(name, stats, was, stats.mode & MODE);
    } catch (error) {
      if (isGone(error) || isClosedTo(error) || isOutOfReach(error)) return undefined;
      throw error;
    } finally {
      inner.close();
    }
  }
}

/** A command can nest folders until their paths are longer than the system takes. */
function isOutOfReach(error: unknown): boolean {
  return hasCode(error, "ENAMETOOLONG");
}

function typeOf(stats: Stats): Exclude<EntryType, "unstored"> | undefined {
  if (stats.isFile()) return "file";
  if (stats.isDirectory()) return "tree";
  return stats.isSymbolicLink() ? "link" : undefined;
}
