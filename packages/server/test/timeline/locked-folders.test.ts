import { chmodSync, existsSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { becomeNobody } from "../../../../testing/become-nobody.ts";
import { makeFolder } from "../../src/session/workspace-folder.ts";
import { toBytes } from "../../src/timeline/workspace/held-folder.ts";
import { createWorkspaceThread } from "../../src/timeline/workspace/workspace-thread.ts";
import { contentsOf } from "./folder-contents.ts";
import { moveTo, type OpenedWorkspaces, openWorkspaces } from "./open-workspaces.ts";

describe("folders that a command has closed to their owner", () => {
  let opened: OpenedWorkspaces;
  let beOneself: () => void;

  beforeEach(async () => {
    const thread = createWorkspaceThread();
    opened = await openWorkspaces({ thread });
    await thread.ask("check", { root: toBytes(opened.root), changes: [] }); // it has loaded what it is made of
    beOneself = becomeNobody(opened.root);
  });
  afterEach(async () => {
    beOneself();
    await opened.close();
  });

  const modeOf = (path: string) => statSync(path).mode & 0o777;

  it("are removed and brought back by a rewind, with their modes", async () => {
    const { workspaces, start } = opened;
    const { session, lease, folder } = await start();
    mkdirSync(join(folder, "known"));
    writeFileSync(join(folder, "known", "a"), "one");
    chmodSync(join(folder, "known"), 0o555);
    const run = await workspaces.begin(session, lease);
    const before = { snapshot: run.snapshot_id, files: contentsOf(folder) };
    chmodSync(join(folder, "known"), 0o755);
    writeFileSync(join(folder, "known", "a"), "two");
    writeFileSync(join(folder, "known", "b"), "two");
    chmodSync(join(folder, "known"), 0o555);
    mkdirSync(join(folder, "cache", "modules"), { recursive: true });
    writeFileSync(join(folder, "cache", "modules", "m"), "m", { mode: 0o444 });
    chmodSync(join(folder, "cache", "modules"), 0o555);
    await run.after();
    const after = { snapshot: run.snapshot_id, files: contentsOf(folder) };

    await moveTo(opened, session, before.snapshot);
    expect(contentsOf(folder)).toEqual(before.files);
    expect(modeOf(join(folder, "known"))).toBe(0o555);
    await moveTo(opened, session, after.snapshot);
    expect(contentsOf(folder)).toEqual(after.files);
    expect([modeOf(join(folder, "known")), modeOf(join(folder, "cache", "modules"))]).toEqual([0o555, 0o555]);
    chmodSync(join(folder, "known"), 0o755);
    chmodSync(join(folder, "cache", "modules"), 0o755);
  });

  it("are open again where they were", async () => {
    const { workspaces, start } = opened;
    const { session, lease, folder } = await start();
    mkdirSync(join(folder, "shut"));
    writeFileSync(join(folder, "shut", "a"), "one");
    const run = await workspaces.begin(session, lease);
    const before = { snapshot: run.snapshot_id, files: contentsOf(folder) };
    chmodSync(join(folder, "shut"), 0);
    await run.after();
    await moveTo(opened, session, before.snapshot);
    expect(contentsOf(folder)).toEqual(before.files);
    expect(modeOf(join(folder, "shut"))).toBe(0o755);
  });

  it("are opened where it is the session's own, or nothing could be done in it any more", async () => {
    const { workspaces, storage, root, start } = opened;
    const { session, lease, folder } = await start();
    writeFileSync(join(folder, "a"), "one");
    const run = await workspaces.begin(session, lease);
    chmodSync(folder, 0);
    await workspaces.begin(session, lease);
    expect([modeOf(folder), contentsOf(folder)]).toEqual([0o700, { a: expect.any(String) }]);
    chmodSync(folder, 0o644);
    await makeFolder(storage, root, session);
    expect(modeOf(folder)).toBe(0o744);
    chmodSync(folder, 0);
    await moveTo(opened, session, run.snapshot_id);
    expect(modeOf(folder)).toBe(0o700);
  });

  it("are told of where the server keeps its own notes of folders", async () => {
    const { workspaces, root, start } = opened;
    const { session, lease, folder } = await start();
    writeFileSync(join(folder, "a"), "one");
    const notes = join(root, ".cognition", "workspaces");
    mkdirSync(notes, { recursive: true });
    chmodSync(notes, 0o500);
    const refused = { code: "workspace_path_refused", message: expect.stringContaining(notes) };
    await expect(workspaces.begin(session, lease)).rejects.toMatchObject(refused);
    chmodSync(notes, 0o700);
    await workspaces.begin(session, lease);
  });

  it("go with their session", async () => {
    const { workspaces, start } = opened;
    const { session, folder } = await start();
    mkdirSync(join(folder, "cache", "modules"), { recursive: true });
    writeFileSync(join(folder, "cache", "modules", "m"), "m", { mode: 0o444 });
    chmodSync(join(folder, "cache", "modules"), 0o555);
    mkdirSync(join(folder, "shut"), 0);
    const odd = Buffer.from(`${folder}/\xff`, "latin1");
    mkdirSync(odd);
    writeFileSync(Buffer.concat([odd, Buffer.from("/a")]), "a");
    chmodSync(odd, 0o500);
    await workspaces.remove(session);
    expect(existsSync(folder)).toBe(false);
  });
});
