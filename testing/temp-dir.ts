import { accessSync, constants, mkdtempSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface TempDir {
  readonly path: string;
  remove(): void;
}

/** Makes an empty folder of its own; `remove` deletes it with everything in it and may be called twice. */
export function createTempDir(prefix = "cognition-"): TempDir {
  return createIn(tmpdir(), prefix);
}

/**
 * The same in memory, where there is room: databases of tests wait for the disk thousands of times otherwise. A killed
 * process, or server, leaves the same bytes there as on a disk; nothing is ever executed there.
 */
export function createMemoryDir(prefix = "cognition-"): TempDir {
  return createIn(hasRoomInMemory() ? MEMORY : tmpdir(), prefix);
}

const MEMORY = "/dev/shm";
/** A container's default is 64 MB, which a database server alone would fill. */
const ROOM_NEEDED = 4 * 2 ** 30;

function hasRoomInMemory(): boolean {
  try {
    accessSync(MEMORY, constants.W_OK);
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize >= ROOM_NEEDED;
  } catch {
    return false; // not a Linux machine, or not one that lets us
  }
}

function createIn(folder: string, prefix: string): TempDir {
  const path = mkdtempSync(join(folder, prefix));
  return { path, remove: () => rmSync(path, { recursive: true, force: true, maxRetries: 5 }) };
}
