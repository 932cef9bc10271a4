import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";

const Marker = z.object({ folder: z.string(), marked_ms: z.number(), snapshot_id: z.string() });

/**
 * Which snapshot this node's folder of a session stands at. Beside the storage's word on where it should stand, it tells
 * a folder that was left behind, or half restored when the process died, from one that a person has worked in.
 */
export interface FolderMarkers {
  read(session_id: string, folder: string): Promise<string | undefined>;
  write(session_id: string, folder: string, snapshot_id: string): Promise<void>;
  remove(session_id: string): Promise<void>;
}

export function createFolderMarkers(root: string): FolderMarkers {
  const place = join(root, ".cognition", "workspaces");
  const known = new Map<string, string>();

  function fileOf(session_id: string): string {
    return join(place, `${createHash("sha256").update(session_id).digest("hex").slice(0, 40)}.json`);
  }

  return {
    read: async (session_id, folder) => {
      const text = await readFile(fileOf(session_id), "utf8").catch((error: NodeJS.ErrnoException) => {
        if (error.code === "ENOENT") return undefined;
        throw error;
      });
      const marker = text === undefined ? undefined : Marker.safeParse(parse(text)).data;
      // Another process on this machine may have written it since.
      known.delete(session_id);
      if (marker?.folder !== folder || (await wasMadeSince(folder, marker.marked_ms))) return undefined;
      known.set(session_id, marker.snapshot_id);
      return marker.snapshot_id;
    },
    write: async (session_id, folder, snapshot_id) => {
      if (known.get(session_id) === snapshot_id) return;
      const text = JSON.stringify({ folder, marked_ms: Date.now(), snapshot_id });
      await mkdir(place, { recursive: true });
      const file = fileOf(session_id);
      // As a whole or not at all: half a marker would say nothing.
      await writeFile(`${file}.new`, text);
      await rename(`${file}.new`, file);
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
async function wasMadeSince(folder: string, marked_ms: number): Promise<boolean> {
  const { birthtimeMs, ctimeMs } = await stat(folder);
  // The marker's time is in whole milliseconds.
  if (birthtimeMs <= marked_ms + 1) return false;
  return birthtimeMs !== ctimeMs || (await readdir(folder)).length === 0;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // damaged: as good as absent, and the folder is compared file by file
  }
}
