import { type BigIntStats, statSync } from "node:fs";
import { relative } from "node:path";
import { AppError, isAppError } from "@cognition/contract";
import { hasCode, messageOf } from "./error-text.ts";
import { type Problem, toProblem } from "./problem.ts";
import { readRegular } from "./read-regular.ts";

/** A definition is written by hand; what is larger was put there by mistake, and would be read again at each change. */
const MAX_FILE_BYTES = 1024 * 1024;

export interface SourceFile {
  readonly path: string;
  /** Relative to the workspace root, for people. */
  readonly label: string;
  readonly text: string;
}

export interface LoadedFile<T> {
  readonly path: string;
  readonly label: string;
  /** What the file said when it could last be read. */
  readonly value: T | undefined;
  /** Why it can't be read now. */
  readonly problem: Problem | undefined;
}

export interface FileSetOptions<T> {
  root: string;
  folder: string;
  /** Absolute paths of the files there are now; none for a folder that does not exist. */
  find(folder: string): Promise<string[]>;
  /** Throws AppError for a file that is wrong. */
  parse(file: SourceFile): Promise<T> | T;
}

/** By path. One that is broken keeps its last good value; so do all, if the folder is. */
export interface LoadedFiles<T> {
  readonly files: readonly LoadedFile<T>[];
  readonly problems: readonly Problem[];
}

export interface FileSet<T> {
  /** The files as they are now; the same object as before, if nothing has changed. */
  refresh(): Promise<LoadedFiles<T>>;
}

interface Entry<T> extends LoadedFile<T> {
  readonly stamp: string;
}

/** What the last scan found, to be compared without reading anything. */
interface Glimpse {
  readonly folder: string | undefined;
  readonly candidates: ReadonlyMap<string, string | undefined>;
}

/** Two changes within one tick of the file system's clock leave the same time: what is so young is looked at in full. */
const SETTLED_MS = 100;

/** Files of one kind in a folder, looked at on each use, and read again when they have changed. */
export function createFileSet<T>(options: FileSetOptions<T>): FileSet<T> {
  let entries = new Map<string, Entry<T>>();
  let unreadable: Problem[] = [];
  let queue: Promise<unknown> = Promise.resolve();
  let glimpse: Glimpse | undefined;
  let loaded: LoadedFiles<T> = { files: [], problems: [] };

  /** Some system calls on this thread, each of a few microseconds; asked for one by one in the pool they would take a millisecond. */
  function isUnchanged({ folder, candidates }: Glimpse): boolean {
    if (stampOf(options.folder) !== folder) return false;
    for (const [path, stamp] of candidates) if (stampOf(path) !== stamp) return false;
    return true;
  }

  async function load(path: string, before: Entry<T> | undefined): Promise<Entry<T> | undefined> {
    const label = relative(options.root, path);
    const stamp = stampOf(path);
    if (stamp === undefined) return undefined;
    if (before?.stamp === stamp) return before;
    try {
      const value = await options.parse({ path, label, text: await readText(path, label) });
      return { path, label, stamp, value, problem: undefined };
    } catch (error) {
      return { path, label, stamp, value: before?.value, problem: toFileProblem(error, label) };
    }
  }

  async function scan(): Promise<void> {
    if (glimpse && isUnchanged(glimpse)) return;
    glimpse = undefined;
    const folder = stampOf(options.folder, Date.now() - SETTLED_MS);
    const paths = await findPaths();
    if (paths) await loadAll(paths, folder);
    const files = [...entries.values()];
    loaded = { files, problems: [...unreadable, ...files.flatMap(({ problem }) => problem ?? [])] };
  }

  async function loadAll(paths: readonly string[], folder: string | undefined): Promise<void> {
    const candidates = new Map(paths.map((path) => [path, stampOf(path)]));
    const found = await Promise.all(paths.map((path) => load(path, entries.get(path))));
    entries = new Map(found.flatMap((entry) => (entry ? [[entry.path, entry] as const] : [])));
    const isSettled = [...entries.values()].every(({ path, stamp }) => candidates.get(path) === stamp);
    if (folder !== TOO_YOUNG && isSettled) glimpse = { folder, candidates };
  }

  async function findPaths(): Promise<string[] | undefined> {
    try {
      const paths = await options.find(options.folder);
      unreadable = [];
      return paths.sort();
    } catch (error) {
      unreadable = [toFileProblem(error, relative(options.root, options.folder))];
      return undefined;
    }
  }

  return {
    async refresh() {
      // One after the other: two at once would both parse, and the slower one could bring back the older text.
      const turn = queue.then(scan);
      queue = turn.catch(() => undefined);
      await turn;
      return loaded;
    },
  };
}

/** Whatever a parser throws is the file's problem: a text nested too deep overflows the stack of most. */
function toFileProblem(error: unknown, label: string): Problem {
  if (isAppError(error)) return toProblem(error, label);
  return { code: "invalid_config", message: `${label}: ${messageOf(error)}`, file: label, line: null };
}

const TOO_YOUNG = "too young";

/** Times to the nanosecond, and what a rename in place changes. Undefined for what is not there. */
function stampOf(path: string, settled_before = Number.POSITIVE_INFINITY): string | undefined {
  let found: BigIntStats | undefined;
  try {
    found = statSync(path, { bigint: true, throwIfNoEntry: false });
  } catch (error) {
    if (hasCode(error, "ENOTDIR")) return undefined;
    return `unreadable: ${String(error)}`;
  }
  if (!found) return undefined;
  const { mtimeNs, ctimeNs, size, ino, mtimeMs } = found;
  return Number(mtimeMs) > settled_before ? TOO_YOUNG : [mtimeNs, ctimeNs, size, ino].join("-");
}

async function readText(path: string, label: string): Promise<string> {
  const file = await readRegular(path, MAX_FILE_BYTES).catch((cause: unknown) => {
    throw new AppError("invalid_config", `${label}: cannot be read: ${messageOf(cause)}`, { cause });
  });
  if (!file) throw new AppError("invalid_config", `${label}: cannot be read: it is not a regular file`);
  if (file.size > MAX_FILE_BYTES) {
    throw new AppError("invalid_config", `${label}: is larger than the limit of ${MAX_FILE_BYTES} bytes`);
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(file.bytes);
  } catch (cause) {
    throw new AppError("invalid_config", `${label}: is not UTF-8 text`, { cause });
  }
}
