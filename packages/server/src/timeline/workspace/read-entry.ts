import { closeSync, constants, fstatSync, openSync, readFileSync, readlinkSync, type Stats } from "node:fs";
import { hasCode } from "../../file/error-text.ts";
import { entryPath, fsPath, type HeldFolder, isGone } from "./held-folder.ts";

// Without blocking: a pipe that took the file's place would wait for a writer for ever.
const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** The bytes of a regular file and what it was when they were read; undefined if it is none, or can't be read. */
export function readRegular(
  folder: HeldFolder,
  name: string,
  maxBytes: number,
): { content: Buffer; stats: Stats } | undefined {
  return withRegular(folder, name, maxBytes, (fd, stats) => {
    const content = readFileSync(fd);
    return content.length > maxBytes ? undefined : { content, stats };
  });
}

/** Whatever takes the file's place meanwhile, it is this one that `use` has; undefined as in `readRegular`. */
export function withRegular<T>(
  folder: HeldFolder,
  name: string,
  maxBytes: number,
  use: (fd: number, stats: Stats) => T,
): T | undefined {
  let fd: number;
  try {
    fd = openSync(fsPath(entryPath(folder, name)), FLAGS);
  } catch (error) {
    if (isGone(error) || isClosedTo(error)) return undefined;
    throw error;
  }
  try {
    const stats = fstatSync(fd);
    return stats.isFile() && stats.size <= maxBytes ? use(fd, stats) : undefined;
  } finally {
    closeSync(fd);
  }
}

export function readLink(folder: HeldFolder, name: string): Buffer | undefined {
  try {
    return readlinkSync(fsPath(entryPath(folder, name)), { encoding: "buffer" });
  } catch (error) {
    if (isGone(error) || hasCode(error, "EINVAL")) return undefined;
    throw error;
  }
}

export function isClosedTo(error: unknown): boolean {
  return hasCode(error, "EACCES", "EPERM", "ENXIO");
}
