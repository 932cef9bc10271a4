import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { hasCode } from "./error-text.ts";

export interface RegularFile {
  /** Its beginning, up to the limit. */
  readonly bytes: Uint8Array;
  /** Of the whole file. */
  readonly size: number;
}

/**
 * The beginning of a regular file; undefined for what is none. Opened without waiting: whoever may write to a workspace can
 * put a pipe in a file's place, and reading that would hold a thread of the server until somebody writes to it.
 */
export async function readRegular(path: string, maxBytes: number): Promise<RegularFile | undefined> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch((error: unknown) => {
    if (hasCode(error, "ENXIO")) return undefined; // a socket
    throw error;
  });
  if (!file) return undefined;
  try {
    const stats = await file.stat();
    if (!stats.isFile()) return undefined;
    const buffer = Buffer.alloc(Math.min(stats.size, maxBytes));
    let length = 0;
    for (let read = -1; read !== 0 && length < buffer.length; length += read) {
      ({ bytesRead: read } = await file.read(buffer, length));
    }
    return { bytes: buffer.subarray(0, length), size: stats.size };
  } finally {
    await file.close();
  }
}
