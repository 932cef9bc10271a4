import { hash } from "node:crypto";
import { readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "@cognition/contract";
import { makeFolders } from "@cognition/thread/make-folders";
import { z } from "zod";
import { hasCode } from "../../file/error-text.ts";
import { isEmptyFolder } from "./empty-folder.ts";
import { systemProblem } from "./system-problem.ts";

const Marker = z.object({ folder: z.string(), marked_ms: z.number(), snapshot_id: z.string() });

/**
 * Which snapshot this node's folder of a session stands at. Beside the storage's word on where it should stand, it tells
 * a folder that was left behind, or half restored when the process died, from one that a person has worked in.
 * Some system calls on this thread, each of a few microseconds: every run begins with them, and asked for one by one in
 * the pool they made runs that share a folder wait for each other.
 */
export interface FolderMarkers {
  read(session_id: string, folder: string): Promise<string | undefined>;
  write(session_id: string, folder: string, snapshot_id: string): Promise<void>;
  remove(session_id: string): Promise<void>;
}

/** Forgetting them costs one write of what is there already. */
const MAX_KNOWN = 10_000;

export function createFolderMarkers(root: string): FolderMarkers {
  const place = join(root, ".cognition", "workspaces");
  const known = new Map<string, string>();

  function fileOf(session_id: string): string {
    return join(place, `${hash("sha256", session_id).slice(0, 40)}.json`);
  }

  return {
    read: async (session_id, folder) => {
      const text = readText(fileOf(session_id));
      const marker = text === undefined ? undefined : Marker.safeParse(parse(text)).data;
      // Another process on this machine may have written it since.
      known.delete(session_id);
      if (marker?.folder !== folder || wasMadeSince(folder, marker.marked_ms)) return undefined;
      known.set(session_id, marker.snapshot_id);
      return marker.snapshot_id;
    },
    write: async (session_id, folder, snapshot_id) => {
      if (known.get(session_id) === snapshot_id) return;
      const text = JSON.stringify({ folder, marked_ms: Date.now(), snapshot_id });
      const file = fileOf(session_id);
      writeWhole(place, file, text);
      if (known.size >= MAX_KNOWN) known.clear();
      known.set(session_id, snapshot_id);
    },
    remove: async (session_id) => {
      known.delete(session_id);
      await rm(fileOf(session_id), { force: true });
    },
  };
}

/**
 * A folder that was removed and made anew holds nothing of what was marked. Where the file system knows no time of making,
 * Node gives the time of the last change for it: then only an empty folder counts as new.
 */
function wasMadeSince(folder: string, marked_ms: number): boolean {
  const { birthtimeMs, ctimeMs } = statSync(folder);
  // The marker's time is in whole milliseconds.
  if (birthtimeMs <= marked_ms + 1) return false;
  return birthtimeMs !== ctimeMs || isEmptyFolder(folder);
}

/** Undefined for a file that is not there. Looked for first: an error with its stack costs more than the look. */
function readText(file: string): string | undefined {
  if (!statSync(file, { throwIfNoEntry: false })) return undefined;
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    throw error;
  }
}

/** As a whole or not at all: half a marker would say nothing. */
function writeWhole(folder: string, file: string, text: string): void {
  try {
    writeIn(folder, `${file}.new`, text);
    renameSync(`${file}.new`, file);
  } catch (cause) {
    const problem = systemProblem(cause);
    throw problem ? new AppError(problem.code, problem.message, { cause }) : cause;
  }
}

/** The folder is there all but the first time. */
function writeIn(folder: string, file: string, text: string): void {
  try {
    writeFileSync(file, text);
  } catch (error) {
    if (!hasCode(error, "ENOENT")) throw error;
    makeFolders(folder);
    writeFileSync(file, text);
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // damaged: as good as absent, and the folder is compared file by file
  }
}
