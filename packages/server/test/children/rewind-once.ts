import { openStorage } from "@cognition/thread";
import { createTimeline } from "../../src/timeline/timeline.ts";
import { createWorkspaceThread } from "../../src/timeline/workspace/workspace-thread.ts";
import { createWorkspaces } from "../../src/timeline/workspace/workspaces.ts";

interface Order {
  uri: string;
  root: string;
  session_id: string;
  checkpoint_id: string;
  /** The process dies at so manieth step of its work, counted from the moment the rewind begins. */
  dies_at: number;
}

const order = JSON.parse(process.argv[2] ?? "{}") as Order;
let left = Number.POSITIVE_INFINITY;

function pass(): void {
  if (left-- <= 0) process.kill(process.pid, "SIGKILL");
}

const storage = await openStorage({ uri: order.uri, failpoint: pass });
const files = createWorkspaceThread();
const thread: typeof files = {
  ask: async (name, body) => {
    pass();
    const answer = await files.ask(name, body);
    pass();
    return answer;
  },
  close: files.close,
};
const onError = (error: unknown) => console.error(error);
const workspaces = createWorkspaces({ snapshots: storage.snapshots, root: order.root, thread, onError });
const agents = { findForSession: () => Promise.reject(new Error("no agents here")) };
const timeline = createTimeline({ storage, workspaces, agents, workspace_root: order.root });
const session = await storage.getSession(order.session_id);
if (!session) throw new Error("no such session");
left = order.dies_at;
await timeline.rewind(session, {
  checkpoint_id: order.checkpoint_id,
  restore: ["conversation", "files", "artifacts"],
  force: false,
  dry_run: false,
});
left = Number.POSITIVE_INFINITY;
await workspaces.close();
await storage.close();
