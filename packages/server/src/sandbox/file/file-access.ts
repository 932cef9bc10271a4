import { randomUUID } from "node:crypto";
import { constants, type Stats } from "node:fs";
import { type FileHandle, lstat, open, rename, unlink } from "node:fs/promises";
import { AppError, type WorkspaceFile } from "@cognition/contract";
import { hasCode } from "../../file/error-text.ts";
import { entryOf, type OpenFolder } from "../../file/open-folder.ts";
import { UNFINISHED } from "../../file/unfinished.ts";
import type { OpenFile } from "../sandbox.ts";
import { wrongType } from "./file-error.ts";

/** An entry of a folder that is held open. */
export interface FolderEntry {
  readonly folder: OpenFolder;
  readonly name: string;
  readonly path: string;
}

/** Without waiting, or opening a pipe would hold a thread of the server until somebody writes to it. */
const READ_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const CREATE_FLAGS = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

export async function describeEntry(entry: FolderEntry): Promise<WorkspaceFile> {
  const stats = await lstat(entryOf(entry.folder, entry.name));
  const type = typeOf(stats);
  if (!type) throw wrongType(entry.path, "a file, a folder or a symbolic link");
  return { path: entry.path, type, size: stats.size, modified_at: timeOf(stats) };
}

const EARLIEST_MS = Date.parse("0000-01-01T00:00:00.000Z");
const LATEST_MS = Date.parse("9999-12-31T23:59:59.999Z");

/** Whoever writes a file may give it any time, also one that no date has, or that needs more than four digits for its year. */
function timeOf({ mtimeMs }: Stats): string {
  return new Date(Math.min(Math.max(mtimeMs, EARLIEST_MS), LATEST_MS)).toISOString();
}

export async function readWhole(entry: FolderEntry, maxBytes: number, given: string): Promise<Buffer> {
  const { file, stats } = await openRegular(entry, given);
  try {
    if (stats.size > maxBytes) throw tooLarge(given, maxBytes);
    return await readUpTo(file, stats.size, maxBytes, given);
  } finally {
    await file.close();
  }
}

async function openRegular(entry: FolderEntry, given: string): Promise<{ file: FileHandle; stats: Stats }> {
  const file = await open(entryOf(entry.folder, entry.name), READ_FLAGS);
  try {
    const stats = await file.stat();
    if (!stats.isFile()) throw wrongType(given, "a regular file");
    return { file, stats };
  } catch (error) {
    await file.close();
    throw error;
  }
}

const PIECE_BYTES = 256 * 1024;

/** Once it is open, nothing that happens to the folders leads to another file. */
export async function openToRead(entry: FolderEntry, given: string): Promise<OpenFile> {
  const { file, stats } = await openRegular(entry, given);
  let left = stats.size;
  return {
    size: stats.size,
    executable: (stats.mode & 0o111) !== 0,
    read: async () => {
      if (left === 0) return undefined;
      const { bytesRead, buffer } = await file.read({ buffer: Buffer.alloc(Math.min(left, PIECE_BYTES)) });
      left -= bytesRead;
      return bytesRead === 0 ? undefined : buffer.subarray(0, bytesRead);
    },
    close: () => file.close(),
  };
}

/** The size that the file had when it was opened is only a guess: it may grow while it is read. */
async function readUpTo(file: FileHandle, expected: number, maxBytes: number, given: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let total = 0;
  for (let size = expected + 1; ; size = 65_536) {
    const { bytesRead, buffer } = await file.read({ buffer: Buffer.alloc(size) });
    if (bytesRead === 0) return Buffer.concat(chunks, total);
    total += bytesRead;
    if (total > maxBytes) throw tooLarge(given, maxBytes);
    chunks.push(buffer.subarray(0, bytesRead));
  }
}

/**
 * Writes beside the file and renames: nobody reads half of it, a crash leaves the old one, and another name of the same
 * file (a hard link to something outside) keeps its content.
 */
export async function writeWhole(entry: FolderEntry, content: Uint8Array, given: string): Promise<WorkspaceFile> {
  const before = await lstat(entryOf(entry.folder, entry.name)).catch(undefinedIfMissing);
  if (before && !before.isFile()) throw wrongType(given, "a regular file");
  const temporary = entryOf(entry.folder, `${UNFINISHED.written}${randomUUID()}`);
  const file = await open(temporary, CREATE_FLAGS, 0o666);
  try {
    try {
      await file.writeFile(content);
      if (before) await takeOver(file, before);
      else await giveToOwner(entry.folder, file);
    } finally {
      await file.close();
    }
    await rename(temporary, entryOf(entry.folder, entry.name));
  } catch (error) {
    await unlink(temporary).catch(undefinedIfMissing);
    throw error;
  }
  return describeEntry(entry);
}

async function takeOver(file: FileHandle, before: Stats): Promise<void> {
  // Never the set-user-id bits: the new content did not earn them.
  await file.chmod(before.mode & 0o777);
  const { uid, gid } = await file.stat();
  if (process.getuid?.() === 0 && (uid !== before.uid || gid !== before.gid)) await file.chown(before.uid, before.gid);
}

/**
 * What root makes in a folder of somebody else's belongs to that one: commands that run as the folder's owner could not change
 * it otherwise.
 */
export async function giveToOwner(folder: OpenFolder, made: FileHandle): Promise<void> {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = await folder.handle.stat();
  if (uid !== 0) await made.chown(uid, gid);
}

export function undefinedIfMissing(error: unknown): undefined {
  if (!hasCode(error, "ENOENT")) throw error;
}

function typeOf(stats: Stats): WorkspaceFile["type"] | undefined {
  if (stats.isFile()) return "file";
  if (stats.isDirectory()) return "directory";
  return stats.isSymbolicLink() ? "symlink" : undefined;
}

function tooLarge(path: string, limit: number): AppError {
  return new AppError("content_too_large", `"${path}" is larger than ${limit} bytes, the most that is read at once.`, {
    details: { path, limit },
  });
}
