import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { AppError } from "@cognition/contract";
import { expect, it, onTestFinished } from "vitest";
import { createTimeline } from "../../src/timeline/timeline.ts";
import { createWorkspaces } from "../../src/timeline/workspace/workspaces.ts";
import { say, startRuntime } from "../runtime/started-runtime.ts";

it("a fork whose files find no room is no session, and leaves no folder", async () => {
  const started = await startRuntime({ session: { workspace_path: null } });
  const { storage, session, root } = started;
  await say(started, "Hello");
  const workspaces = createWorkspaces({ snapshots: storage.snapshots, root, onError: () => undefined });
  onTestFinished(() => workspaces.close());
  const full = new AppError("limit_exceeded", "There is no space left");
  const cloneFrom = async (_parent: unknown, { id }: { id: string }) => {
    mkdirSync(join(root, id, "half"), { recursive: true });
    throw full;
  };
  const timeline = createTimeline({
    storage,
    workspaces: { ...workspaces, cloneFrom },
    agents: started.runtime.agents,
    workspace_root: root,
  });
  await expect(timeline.fork(session, { files: true })).rejects.toBe(full);
  expect(await storage.listSessions({})).toMatchObject([{ id: session.id }]);
  expect(readdirSync(root).filter((name) => name !== ".cognition" && name !== session.id)).toEqual([]);
});

it("one that can't be taken back either says why it failed, and what is left to delete", async () => {
  const started = await startRuntime({ session: { workspace_path: null } });
  const { storage, session, root, runtime } = started;
  await say(started, "Hello");
  const workspaces = createWorkspaces({ snapshots: storage.snapshots, root, onError: () => undefined });
  onTestFinished(() => workspaces.close());
  const fails = (error: Error) => async () => {
    throw error;
  };
  const away = new Error(`the disk of ${root} is away`);
  const timelineWhere = (error: Error) =>
    createTimeline({
      storage: { ...storage, deleteSession: fails(away) },
      workspaces: { ...workspaces, cloneFrom: fails(error) },
      agents: runtime.agents,
      workspace_root: root,
    });
  const left = async () => (await storage.listSessions({})).find(({ id }) => id !== session.id)?.id ?? "";
  const full = new AppError("limit_exceeded", "There is no space left.");
  const told = await timelineWhere(full)
    .fork(session, { files: true })
    .catch((error: AppError) => error);
  expect(told).toMatchObject({ code: "internal", message: expect.stringMatching(/^There is no space left\. /) });
  expect((told as AppError).message).toContain(`session ${await left()} and its folder`);
  expect((told as AppError).cause).toMatchObject({ errors: [full, away] });
  await storage.deleteSession(await left());
  const cut = new AppError("storage_unavailable", "The storage is away.");
  const retried = timelineWhere(cut).fork(session, { files: true });
  await expect(retried).rejects.toMatchObject({ code: "storage_unavailable" }); // clients send that again, under its key
  await storage.deleteSession(await left());
  const unknown = await timelineWhere(away)
    .fork(session, { files: true })
    .catch((error: AppError) => error);
  expect(unknown).toMatchObject({ code: "internal", details: { session_id: await left() } });
  expect((unknown as AppError).message).not.toContain(root);
});
