import { parentPort } from "node:worker_threads";
import { clearWay, makeFolders, removePaths, setAside, setModes, writeFiles } from "./apply-changes.ts";
import { checkChanges } from "./check-changes.ts";
import { cloneFiles } from "./clone-files.ts";
import { ScannedWorkspace } from "./scanned-workspace.ts";
import { systemProblem } from "./system-problem.ts";
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
  hold: ({ root, tree }) => void workspaceAt(root).hold(tree),
  release: ({ root, tree }) => void workspaceAt(root).release(tree),
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
    return { id, error: systemProblem(error) ?? { message: error instanceof Error ? error.message : String(error) } };
  }
}
