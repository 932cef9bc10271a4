import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { AppError, type WorkspaceFile } from "@cognition/contract";
import { entryOf, openFolderIn } from "../../file/open-folder.ts";
import type { GrepMatch, SandboxFiles } from "../sandbox.ts";
import { describeEntry, type FolderEntry, readWhole, undefinedIfMissing } from "./file-access.ts";
import type { Place } from "./folder-walk.ts";
import { compileGlob } from "./glob-pattern.ts";
import { identify, identityOf, isAtOrBelow } from "./protected-paths.ts";
import { scanFolder } from "./scan-folder.ts";

export interface SearchContext {
  /** Leads to a folder that may be read. */
  readonly reach: <T>(path: string, use: (place: Place) => Promise<T>) => Promise<T>;
  readonly root: string;
  readonly hidden: readonly string[];
  readonly maxBytes: number;
}

const DEFAULT_LIMIT = 1_000;
/** A line of generated code may be as long as its file; a model needs only to recognise it. */
const MAX_LINE_LENGTH = 2_000;
/** Where a NUL is among the first bytes it is no text: as git and grep see it. */
const BINARY_PROBE_BYTES = 8_000;

export function createSearch(context: SearchContext): Pick<SandboxFiles, "glob" | "grep"> {
  return {
    glob: (pattern, { path = ".", limit = DEFAULT_LIMIT, signal } = {}) =>
      context.reach(path, async (place) => {
        const files: WorkspaceFile[] = [];
        for await (const entry of matchingFiles(context, place, compileGlob(pattern))) {
          signal?.throwIfAborted();
          if (files.length >= limit) return { files: sorted(files), truncated: true };
          const file = await describeEntry(entry).catch(undefinedIfChanged);
          if (file) files.push(file);
        }
        return { files: sorted(files), truncated: false };
      }),
    async grep(text, { path = ".", glob, limit = DEFAULT_LIMIT, signal } = {}) {
      if (text === "")
        throw new AppError("validation_failed", "The text to search for is empty. Nothing was searched.");
      const matchesGlob = glob === undefined ? () => true : compileGlob(glob);
      return context.reach(path, async (place) => {
        const matches: GrepMatch[] = [];
        for await (const entry of matchingFiles(context, place, matchesGlob)) {
          signal?.throwIfAborted();
          for (const match of await searchFile(entry, text, context.maxBytes)) matches.push(match);
          if (matches.length > limit) return { matches: sorted(matches.slice(0, limit)), truncated: true };
        }
        return { matches: sorted(matches), truncated: false };
      });
    },
  };
}

/** Of a file, itself: models name one as often as a folder. */
async function* matchingFiles({ root, hidden }: SearchContext, place: Place, matches: (path: string) => boolean) {
  const prefix = place.path === "" ? "" : `${place.path}/`;
  const identities = await identify(hidden);
  const isHidden = async (entry: FolderEntry) => {
    if (hidden.some((each) => isAtOrBelow(join(root, entry.path), each))) return true;
    if (identities.size === 0) return false;
    const stats = await lstat(entryOf(entry.folder, entry.name), { bigint: true }).catch(undefinedIfMissing);
    return stats === undefined || identities.has(identityOf(stats));
  };
  const found = await lstat(entryOf(place.folder, place.name)).catch(undefinedIfMissing);
  if (found?.isFile()) {
    if (matches(place.name) && !(await isHidden(place))) yield place;
    return;
  }
  const folder = await openFolderIn(place.folder, place.name);
  try {
    for await (const file of scanFolder(folder)) {
      if (!matches(file.path)) continue;
      const entry: FolderEntry = { ...file, path: prefix + file.path };
      if (!(await isHidden(entry))) yield entry;
    }
  } finally {
    await folder.handle.close();
  }
}

async function searchFile(entry: FolderEntry, text: string, maxBytes: number): Promise<GrepMatch[]> {
  const bytes = await readWhole(entry, maxBytes, entry.path).catch(undefinedIfChanged);
  // Most files do not have it, and looking for bytes is much faster than decoding them.
  if (!bytes?.includes(text) || bytes.subarray(0, BINARY_PROBE_BYTES).includes(0)) return [];
  const lines = bytes.toString("utf8").split(/\r?\n/);
  return lines.flatMap((line, index) =>
    line.includes(text) ? [{ path: entry.path, line: index + 1, text: line.slice(0, MAX_LINE_LENGTH) }] : [],
  );
}

/** Gone, too large or something else since it was listed: not a file to be searched. */
function undefinedIfChanged(error: unknown): undefined {
  const { code } = error as { code?: string };
  const expected = ["ENOENT", "ELOOP", "ENXIO", "EACCES", "content_too_large", "validation_failed"];
  if (!code || !expected.includes(code)) throw error;
}

function sorted<T extends { readonly path: string }>(list: T[]): T[] {
  return list.sort((a, b) => (a.path === b.path ? 0 : a.path < b.path ? -1 : 1));
}
