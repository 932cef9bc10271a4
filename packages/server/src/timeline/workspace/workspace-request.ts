import type { NewSnapshotObject } from "@cognition/thread";
import type { PathChange, PathState } from "./path-change.ts";

export interface ScanLimits {
  maxFileBytes: number;
  exclude: readonly string[];
  /** Paths in bytes of what only the server itself may read. */
  never?: readonly string[];
  ignore: readonly string[];
}

/** What the thread with the files is asked for, and what it answers. */
export interface WorkspaceRequests {
  scan: {
    in: { root: string; base?: string; only?: "files"; limits: ScanLimits };
    out: { tree: string; objects: string[] };
  };
  read: { in: { root: string; hashes: readonly string[] }; out: NewSnapshotObject[] | undefined };
  settle: { in: { root: string }; out: undefined };
  hold: { in: { root: string; tree: string }; out: undefined };
  release: { in: { root: string; tree: string }; out: undefined };
  changes: { in: { root: string; from: string; to: string }; out: PathChange[] | undefined };
  check: { in: { root: string; changes: readonly PathChange[] }; out: PathState[] };
  remove: { in: { root: string; changes: readonly PathChange[] }; out: undefined };
  makeFolders: { in: { root: string; changes: readonly PathChange[] }; out: undefined };
  write: {
    in: { root: string; changes: readonly PathChange[]; contents: ReadonlyMap<string, Uint8Array> };
    out: undefined;
  };
  clone: { in: { root: string; source: string; changes: readonly PathChange[] }; out: string[] };
  setAside: { in: { root: string; changes: readonly PathChange[]; suffix: string }; out: undefined };
  clearWay: { in: { root: string; changes: readonly PathChange[]; suffix: string }; out: undefined };
  setModes: { in: { root: string; changes: readonly PathChange[] }; out: undefined };
}

export type RequestName = keyof WorkspaceRequests;

export interface RequestMessage<N extends RequestName = RequestName> {
  id: number;
  name: N;
  body: WorkspaceRequests[N]["in"];
}

export type ReplyMessage =
  | { id: number; result: unknown }
  | { id: number; error: { code?: string | undefined; message: string; details?: unknown } };
