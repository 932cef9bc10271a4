import { closeSync, constants, openSync } from "node:fs";
import { hasCode } from "../../file/error-text.ts";

/**
 * A folder held open. Paths are bytes, one character each (latin1), since names need not be UTF-8. On Linux an entry is
 * reached through the descriptor, so that a folder which a command swaps for a link meanwhile leads nowhere else.
 */
export interface HeldFolder {
  readonly fd: number;
  readonly path: string;
}

const FLAGS = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
const HOLDS = process.platform === "linux";
// biome-ignore lint/suspicious/noControlCharactersInRegex: the range of ASCII begins with them
const ASCII = /^[\x00-\x7f]*$/;

/** What Node's functions take for a path of bytes. */
export function fsPath(bytes: string): string | Buffer {
  return ASCII.test(bytes) ? bytes : Buffer.from(bytes, "latin1");
}

export function toBytes(text: string): string {
  return ASCII.test(text) ? text : Buffer.from(text).toString("latin1");
}

/** For people: what is not UTF-8 shows as replacement characters. */
export function toText(bytes: string): string {
  return ASCII.test(bytes) ? bytes : Buffer.from(bytes, "latin1").toString();
}

export function entryPath({ fd, path }: HeldFolder, name: string): string {
  return HOLDS ? `/proc/self/fd/${fd}/${name}` : `${path}/${name}`;
}

/** Of a file that is held open, in a folder that is. */
export function filePath(folder: HeldFolder, name: string, fd: number): string | Buffer {
  return HOLDS ? `/proc/self/fd/${fd}` : fsPath(entryPath(folder, name));
}

export function listingPath({ fd, path }: HeldFolder): string | Buffer {
  return HOLDS ? `/proc/self/fd/${fd}` : fsPath(path);
}

/** Opened when somebody first needs it, if ever: most folders of a scan are as they were. Closed by whoever made it. */
export class LazyFolder {
  readonly path: string;
  readonly #open: () => HeldFolder;
  #held: HeldFolder | undefined;

  constructor(path: string, above?: LazyFolder, name = "") {
    this.path = path;
    const at = () => (above ? entryPath(above.hold(), name) : path);
    this.#open = () => ({ fd: openSync(fsPath(at()), FLAGS), path });
  }

  hold(): HeldFolder {
    this.#held ??= this.#open();
    return this.#held;
  }

  close(): void {
    if (this.#held) closeSync(this.#held.fd);
    this.#held = undefined;
  }
}

export function holdRoot<T>(root: string, use: (folder: HeldFolder) => T): T {
  return hold({ fd: openSync(fsPath(root), FLAGS), path: root }, use);
}

/** Never through a link. Throws what opening it throws. */
export function holdIn<T>(folder: HeldFolder, name: string, use: (folder: HeldFolder) => T): T {
  return hold({ fd: openSync(fsPath(entryPath(folder, name)), FLAGS), path: `${folder.path}/${name}` }, use);
}

function hold<T>(folder: HeldFolder, use: (folder: HeldFolder) => T): T {
  try {
    return use(folder);
  } finally {
    closeSync(folder.fd);
  }
}

/** True for what a file that went away, or is no file any more, throws. */
export function isGone(error: unknown): boolean {
  return hasCode(error, "ENOENT", "ENOTDIR", "ELOOP");
}
