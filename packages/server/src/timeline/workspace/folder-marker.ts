import { createHash } from "node:crypto";
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";

const Marker = z.object({ folder: z.string(), snapshot_id: z.string() });

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
      // Another process on this machine may have written it since.
      if (text === undefined) known.delete(session_id);
      else known.set(session_id, text);
      const marker = text === undefined ? undefined : Marker.safeParse(parse(text)).data;
      return marker?.folder === folder ? marker.snapshot_id : undefined;
    },
    write: async (session_id, folder, snapshot_id) => {
      const text = JSON.stringify({ folder, snapshot_id });
      if (known.get(session_id) === text) return;
      await mkdir(place, { recursive: true });
      const file = fileOf(session_id);
      // As a whole or not at all: half a marker would say nothing.
      await writeFile(`${file}.new`, text);
      await rename(`${file}.new`, file);
      known.set(session_id, text);
    },
    remove: async (session_id) => {
      known.delete(session_id);
      await rm(fileOf(session_id), { force: true });
    },
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // damaged: as good as absent, and the folder is compared file by file
  }
}
