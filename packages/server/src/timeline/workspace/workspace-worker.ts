import { parentPort } from "node:worker_threads";
import { messageOf } from "../../file/error-text.ts";
import { clearWay, makeFolders, removePaths, setAside, setModes, writeFiles } from "./apply-changes.ts";
import { checkChanges } from "./check-changes.ts";
import { cloneFiles } from "./clone-files.ts";
import { ScannedWorkspace } from "./scanned-workspace.ts";
import { systemProblem } from "./system-problem.ts";
import { WorkspaceProblem } from "./workspace-problem.ts";
import type { ReplyMessage, RequestMessage, RequestName, ScanLimits, WorkspaceRequests } from "./workspace-request.ts";

type Answers = { [N in RequestName]: (body: WorkspaceRequests[N]["in"]) => WorkspaceRequests[N]["out"] };

/**
 * Of those not used for longest, what is known is forgotten: their next scan reads every file. Not while somebody is about to
 * ask for what a scan has found: more sessions than these may be at work at a time.
 */
const WORKSPACES_KEPT = 64;
const workspaces = new Map<string, ScannedWorkspace>();

function toScan(root: string, limits: ScanLimits): ScannedWorkspace {
  const workspace = workspaces.get(root) ?? new ScannedWorkspace(root, { ...limits, now: () => Date.now() });
  workspaces.delete(root);
  workspaces.set(root, workspace);
  for (const [oldest, { isAwaited }] of workspaces) {
    if (workspaces.size <= WORKSPACES_KEPT) break;
    if (!isAwaited && oldest !== root) workspaces.delete(oldest);
  }
  return workspace;
}

const answers: Answers = {
  scan: ({ root, base, only, limits }) => toScan(root, limits).scan(base, only),
  read: ({ root, hashes }) => workspaces.get(root)?.read(hashes),
  settle: ({ root }) => void workspaces.get(root)?.settle(),
  hold: ({ root, tree }) => void workspaces.get(root)?.hold(tree),
  release: ({ root, tree }) => void workspaces.get(root)?.release(tree),
  changes: ({ root, from, to }) => workspaces.get(root)?.changes(from, to),
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
    return { id, error: systemProblem(error) ?? { message: messageOf(error) } };
  }
}
