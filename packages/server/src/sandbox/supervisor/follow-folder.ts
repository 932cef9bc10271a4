import { closeSync, openSync, readSync } from "node:fs";
import { AppError } from "@cognition/contract";
import { hasCode } from "../../file/error-text.ts";
import { type CommandFolder, type CommandNote, type CommandOutcome, isAlive } from "./command-folder.ts";
import type { Supervisor } from "./supervisor.ts";

/** How often a command is looked at that nobody tells news of: one that a server before this one started. */
const LOOK_MS = 50;
const CHUNK = 65_536;

export interface FolderFollowing {
  /** With how it came out; undefined if its supervisor is gone and has not said. Rejects where that could not be kept. */
  readonly ended: Promise<CommandOutcome | undefined>;
  stop(): void;
}

/** Hands over what a command has said so far and what it says from now on, until its end. */
export function followFolder(
  folder: CommandFolder,
  note: CommandNote,
  { supervisor, take }: { supervisor: Pick<Supervisor, "listen">; take: (chunk: Uint8Array) => void },
): FolderFollowing {
  const { promise, resolve, reject } = Promise.withResolvers<CommandOutcome | undefined>();
  const reader = createReader(folder.output, take);

  function look(): void {
    try {
      // In this order: a supervisor that ends between the two has written its last word before the second look.
      const alive = isAlive(note.supervisor);
      const outcome = folder.outcome();
      reader.read();
      if (outcome || !alive) end(() => resolve(outcome));
      else if (!folder.isThere()) throw notKept();
    } catch (error) {
      end(() => reject(error));
    }
  }

  const timer = setInterval(look, LOOK_MS);
  const unlisten = supervisor.listen(folder.path, look);
  function end(settle: () => void): void {
    clearInterval(timer);
    unlisten();
    reader.close();
    settle();
  }
  look();
  return { ended: promise, stop: () => end(() => {}) };
}

function createReader(file: string, take: (chunk: Uint8Array) => void) {
  const buffer = Buffer.alloc(CHUNK);
  let descriptor: number | undefined;
  let closed = false;
  let at = 0;

  function open(): number | undefined {
    try {
      return openSync(file, "r");
    } catch (error) {
      // The command has not begun yet.
      if (hasCode(error, "ENOENT")) return undefined;
      throw error;
    }
  }

  return {
    read(): void {
      if (!closed) descriptor ??= open();
      for (let size = CHUNK; descriptor !== undefined && size === CHUNK; at += size) {
        size = readSync(descriptor, buffer, 0, CHUNK, at);
        if (size > 0) take(Uint8Array.prototype.slice.call(buffer, 0, size));
      }
    },
    close(): void {
      closed = true;
      if (descriptor !== undefined) closeSync(descriptor);
      descriptor = undefined;
    },
  };
}

function notKept(): AppError {
  return new AppError(
    "outcome_unknown",
    "What the command said and how it ended could not be kept: the disk of the server's own data is full, or cannot be written to. How far it came is not known.",
  );
}
