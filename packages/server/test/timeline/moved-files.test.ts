import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Session } from "@cognition/contract";
import { hashBlob } from "@cognition/thread";
import { expect, it, onTestFinished } from "vitest";
import { createTimeline } from "../../src/timeline/timeline.ts";
import { createWorkspaces } from "../../src/timeline/workspace/workspaces.ts";
import { type Started, say, startRuntime } from "../runtime/started-runtime.ts";
import { make } from "./talk.ts";

/** Longer than a fork takes to get to its commit; where it takes longer the folder is swept too, which comes to the same. */
const GRACE_MS = 500;

type Work = () => Promise<unknown>;

/** Ways back at whose last step, before anything is committed, something happens once. */
function timelineOf(started: Started, between: Work) {
  const { storage, root, runtime } = started;
  const workspaces = createWorkspaces({ snapshots: storage.snapshots, root, onError: () => undefined });
  onTestFinished(() => workspaces.close());
  let waiting: Work | undefined = between;
  const first = async () => {
    const work = waiting;
    waiting = undefined;
    await work?.();
  };
  const timeline: typeof storage.timeline = {
    ...storage.timeline,
    rewindSession: async (rewind) => first().then(() => storage.timeline.rewindSession(rewind)),
    forkSession: async (fork) => first().then(() => storage.timeline.forkSession(fork)),
  };
  const options = { storage: { ...storage, timeline }, workspaces, agents: runtime.agents, workspace_root: root };
  return { ...createTimeline(options), workspaces };
}

async function start() {
  const started = await startRuntime({ session: { workspace_path: null } });
  const folder = join(started.root, started.session.id);
  mkdirSync(folder, { recursive: true });
  const session = async () => (await started.storage.getSession(started.session.id)) as Session;
  return { ...started, folder, current: session };
}

it("a rewind that was decided before somebody changed a file is refused, and the file is as he left it", async () => {
  const started = await start();
  await say(started, make("a.txt", "one"));
  const mine = join(started.folder, "mine.txt");
  const session = await started.current();
  const timeline = timelineOf(started, () =>
    timeline.workspaces.change(session, async () => writeFileSync(mine, "mine")),
  );
  const body = { last: "turn", restore: ["conversation", "files"], force: false, dry_run: false } as const;
  const undo = () => timeline.rewind(session, { ...body, restore: [...body.restore] });
  await expect(undo()).rejects.toMatchObject({ code: "version_conflict" });
  expect((await undo()).files).toMatchObject([{ path: "a.txt", change: "deleted" }]);
  expect(readFileSync(mine, "utf8")).toBe("mine");
});

it("a fork whose files are swept while it is made is told so, and can be made again", async () => {
  const started = await start();
  await say(started, make("a.txt", "one"));
  writeFileSync(join(started.folder, "b.txt"), "two");
  // The file was stored before, and nothing leads to it: it is past its grace, and the folder that it is in now is not.
  const { snapshots } = started.storage;
  const content = Buffer.from("two");
  await snapshots.putObjects(started.session.scopes, [{ hash: hashBlob(content), kind: "blob", content }]);
  const stored = Date.now();
  await expect.poll(() => Date.now() - stored).toBeGreaterThan(2 * GRACE_MS);
  const sweep = () => snapshots.sweepSnapshots({ scope: started.session.scopes, grace_ms: GRACE_MS });
  const timeline = timelineOf(started, sweep);
  const session = await started.current();
  await expect(timeline.fork(session, { files: true })).rejects.toMatchObject({ code: "snapshot_not_found" });
  const fork = { ...(await timeline.fork(session, { files: true })), workspace_path: null };
  // As on another node, which has no folder to copy from.
  await timeline.workspaces.remove(fork);
  mkdirSync(join(started.root, fork.id));
  await timeline.workspaces.settle(fork, false);
  expect(readFileSync(join(started.root, fork.id, "b.txt"), "utf8")).toBe("two");
});
