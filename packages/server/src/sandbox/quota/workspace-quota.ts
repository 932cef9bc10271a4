import { statfs } from "node:fs/promises";
import { AppError } from "@cognition/contract";
import { hasCode } from "../../file/error-text.ts";
import { workspaceGone } from "../file/file-error.ts";
import { measureFolder } from "./measure-folder.ts";

/** How much a workspace may hold, for all sessions that work in it. */
export interface WorkspaceQuota {
  /** Rejects with `limit_exceeded` when so many bytes more would be too many. */
  reserve(bytes: number): Promise<void>;
  /** Looks at the folder while a command runs; calls back if that has grown it beyond the limit, or if it can't be told. */
  watch(onExceeded: (reason: unknown) => void): () => void;
}

export interface WorkspaceQuotaOptions {
  readonly folder: string;
  readonly limitBytes: number;
}

/** What a disk of today takes in that time, a command may write too much. */
const LOOK_MS = 500;
/** Somebody else may free as much space as the command takes: so the folder is counted too, for this part of the time. */
const COUNTING_SHARE = 1 / 20;

export function createWorkspaceQuota({ folder, limitBytes }: WorkspaceQuotaOptions): WorkspaceQuota {
  /** What the files may take at most by now; undefined before they were first counted, and after every command. */
  let atMost: number | undefined;

  const count = async () => {
    atMost = await measureFolder(folder, limitBytes);
    return atMost;
  };

  return {
    async reserve(bytes) {
      if ((atMost ?? (await count())) + bytes > limitBytes && (await count()) + bytes > limitBytes)
        throw exceeded(folder, limitBytes, "Nothing was written; delete files first.");
      atMost = (atMost ?? 0) + bytes;
    },
    watch(onExceeded) {
      atMost = undefined;
      const watching = watchGrowth({ folder, limitBytes }, onExceeded);
      return () => {
        atMost = undefined;
        watching.stop();
      };
    },
  };
}

function watchGrowth({ folder, limitBytes }: WorkspaceQuotaOptions, onExceeded: (reason: unknown) => void) {
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  let counted: { readonly size: number; readonly free: number; readonly dueAt: number } | undefined;

  /** A command that began above the limit may go on, or nobody could delete anything; but not if it adds to it. */
  async function look(): Promise<void> {
    const free = await freeBytes(folder);
    const before = counted;
    const taken = before ? before.free - free : 0;
    const began = performance.now();
    if (before && before.size + taken <= limitBytes && began < before.dueAt) return;
    const size = await measureFolder(folder, Math.max(limitBytes, before?.size ?? 0));
    const ended = performance.now();
    counted = { size, free, dueAt: ended + (ended - began) / COUNTING_SHARE };
    if (before && size > limitBytes && size > before.size)
      throw exceeded(folder, limitBytes, "The command that wrote it was stopped; delete files first.");
  }

  async function lookAgain(): Promise<void> {
    try {
      await look();
      if (!stopped) timer = setTimeout(() => void lookAgain(), LOOK_MS);
    } catch (reason) {
      if (!stopped) onExceeded(reason);
    }
  }
  void lookAgain();
  return {
    stop: () => {
      stopped = true;
      clearTimeout(timer);
    },
  };
}

async function freeBytes(folder: string): Promise<number> {
  try {
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize;
  } catch (error) {
    throw hasCode(error, "ENOENT", "ENOTDIR") ? workspaceGone(folder, "The command was stopped.", error) : error;
  }
}

function exceeded(folder: string, limit: number, rest: string): AppError {
  return new AppError("limit_exceeded", `The workspace may hold ${limit} bytes, and that is more. ${rest}`, {
    details: { limit, workspace: folder },
  });
}
