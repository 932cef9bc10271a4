import { parentPort } from "node:worker_threads";
import { clearWay, makeFolders, removePaths, setAside, setModes, writeFiles } from "./apply-changes.ts";
import { checkChanges } from "./check-changes.ts";
import { cloneFiles } from "./clone-files.ts";
import { ScannedWorkspace } from "./scanned-workspace.ts";
import { WorkspaceProblem } from "./workspace-problem.ts";
import type { ReplyMessage, RequestMessage, RequestName, ScanLimits, WorkspaceRequests } from "./workspace-request.ts";

type Answers = { [N in RequestName]: (body: WorkspaceRequests[N]["in"]) => WorkspaceRequests[N]["out"] };

/** Of those not used for longest, what is known is forgotten: their next scan reads every file. */
const WORKSPACES_KEPT = 64;
const workspaces = new Map<string, ScannedWorkspace>();

function workspaceAt(root: string, limits?: ScanLimits): ScannedWorkspace {
  const known = workspaces.get(root);
  const workspace =
    known ?? new ScannedWorkspace(root, { maxFileBytes: 0, exclude: [], ignore: [], ...limits, now: () => Date.now() });
  workspaces.delete(root);
  workspaces.set(root, workspace);
  for (const oldest of workspaces.keys()) if (workspaces.size > WORKSPACES_KEPT) workspaces.delete(oldest);
  return workspace;
}

const answers: Answers = {
  scan: ({ root, base, limits }) => workspaceAt(root, limits).scan(base),
  read: ({ root, hashes }) => workspaceAt(root).read(hashes),
  settle: ({ root }) => void workspaceAt(root).settle(),
  changes: ({ root, from, to }) => workspaceAt(root).changes(from, to),
  check: ({ root, changes }) => checkChanges(root, changes),
  remove: ({ root, changes }) => void removePaths(root, changes),
  makeFolders: ({ root, changes }) => void makeFolders(root, changes),
  write: ({ root, changes, contents }) => void writeFiles(root, changes, contents),
  clone: ({ root, source, changes }) => cloneFiles(root, source, changes),
  setAside: ({ root, changes, suffix }) => void setAside(root, changes, suffix),
  clearWay: ({ root, changes, suffix }) => void clearWay(root, changes, suffix),
  setModes: ({ root, changes }) => void setModes(root, changes),
};

parentPort?.on("message", ({ id, name, body }: RequestMessage) => {
  parentPort?.postMessage(answer(id, name, body));
});

function answer(id: number, name: RequestName, body: unknown): ReplyMessage {
  try {
    return { id, result: (answers[name] as (body: unknown) => unknown)(body) };
  } catch (error) {
    if (error instanceof WorkspaceProblem)
      return { id, error: { code: error.code, message: error.message, details: error.details } };
    const message = error instanceof Error ? error.message : String(error);
    if (isFull(error)) return { id, error: { code: "limit_exceeded", message: noSpace(message) } };
    return {
      id,
      error: isRefused(error) ? { code: "workspace_path_refused", message: refused(message) } : { message },
    };
  }
}

function isRefused(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === "EACCES" || code === "EPERM" || code === "EROFS";
}

function refused(reason: string): string {
  return `The operating system does not let the server read or change the files of the workspace (${reason}); what is stored of them is whole. Give it the right to, and do it again.`;
}

function isFull(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === "ENOSPC" || code === "EDQUOT";
}

function noSpace(reason: string): string {
  return `There is no space left for the files of the workspace (${reason}); what is stored of them is whole. Make room, and do it again.`;
}
