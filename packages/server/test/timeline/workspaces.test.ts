import { execFileSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  watch,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { AppError } from "@cognition/contract";
import { decodeTree, EMPTY_TREE, type SnapshotStore } from "@cognition/thread";
import { afterEach, describe, expect, it } from "vitest";
import { createSandboxes } from "../../src/sandbox/create-sandboxes.ts";
import { createWorkspaces } from "../../src/timeline/workspace/workspaces.ts";
import { nestFolders } from "../sandbox/nest-folders.ts";
import { contentsOf } from "./folder-contents.ts";
import { moveTo, type OpenedWorkspaces, openWorkspaces } from "./open-workspaces.ts";

const opened: OpenedWorkspaces[] = [];
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
});

async function open(...options: Parameters<typeof openWorkspaces>): Promise<OpenedWorkspaces> {
  const one = await openWorkspaces(...options);
  opened.push(one);
  return one;
}

describe("a snapshot", () => {
  it("is of what tools and shells changed, and a step that changed nothing writes nothing", async () => {
    const { workspaces, storage, start } = await open();
    const { session, lease, folder } = await start();
    const run = await workspaces.begin(session, lease);
    expect(run.snapshot_id).toBe(EMPTY_TREE);
    expect(await storage.snapshots.currentSnapshot(session.thread_id)).toBeNull();
    execFileSync("sh", ["-c", "mkdir -p a/b && printf one > a/b/c.txt"], { cwd: folder });
    await run.before();
    await run.after();
    const first = run.snapshot_id;
    expect(first).not.toBe(EMPTY_TREE);
    const bytes = await storage.snapshots.snapshotBytes({});
    await run.after();
    expect(run.snapshot_id).toBe(first);
    expect(await storage.snapshots.snapshotBytes({})).toBe(bytes);
    expect(await workspaces.diff({}, EMPTY_TREE, first)).toMatchObject([{ path: "a/b/c.txt", change: "added" }]);
  });

  it("of an empty folder is noted before the first tool that may write, and not for a run that has none", async () => {
    const { workspaces, start, root } = await open();
    const notes = join(root, ".cognition", "workspaces");
    const { session, lease } = await start();
    const run = await workspaces.begin(session, lease);
    expect(existsSync(notes)).toBe(false);
    await run.before();
    expect(readdirSync(notes)).toHaveLength(1);
  });

  it("sees an edit that leaves size and times as they were", async () => {
    const { workspaces, start } = await open();
    const { session, lease, folder } = await start();
    const file = join(folder, "a.txt");
    writeFileSync(file, "one");
    const run = await workspaces.begin(session, lease);
    const first = run.snapshot_id;
    const { mtime, atime } = lstatSync(file);
    writeFileSync(file, "two");
    utimesSync(file, atime, mtime);
    await run.after();
    expect(run.snapshot_id).not.toBe(first);
    renameSync(file, join(folder, "b.txt"));
    await run.after();
    expect(await workspaces.diff({}, first, run.snapshot_id)).toMatchObject([
      { path: "a.txt", change: "deleted" },
      { path: "b.txt", change: "added" },
    ]);
  });

  it("leaves out what .gitignore and the size limit exclude, and every .git; never writes to them", async () => {
    const { workspaces, start } = await open({ max_file_bytes: 1_000 });
    const { session, lease, folder } = await start();
    execFileSync("git", ["init", "-q", folder], { stdio: "ignore" });
    const before = contentsOf(join(folder, ".git"));
    mkdirSync(join(folder, "sub/build"), { recursive: true });
    mkdirSync(join(folder, "vendor/.git"), { recursive: true });
    writeFileSync(join(folder, ".gitignore"), "*.log\nbuild/\n!keep.log\n");
    writeFileSync(join(folder, "sub/.gitignore"), "!sub.log\nsecret*\n");
    for (const path of ["a.log", "keep.log", "sub/sub.log", "sub/b.log", "sub/secret.txt", "sub/build/x", "plain"]) {
      writeFileSync(join(folder, path), path);
    }
    writeFileSync(join(folder, "vendor/.git/config"), "x");
    writeFileSync(join(folder, "large"), "x".repeat(1_001));
    const run = await workspaces.begin(session, lease);
    const paths = (await workspaces.diff({}, EMPTY_TREE, run.snapshot_id)).map(({ path }) => path);
    expect(paths).toEqual([".gitignore", "keep.log", "plain", "sub/.gitignore", "sub/sub.log"]);
    writeFileSync(join(folder, ".gitignore"), "plain\n");
    await run.after();
    const now = (await workspaces.diff({}, EMPTY_TREE, run.snapshot_id)).map(({ path }) => path);
    expect(now).toEqual([
      ".gitignore",
      "a.log",
      "keep.log",
      "sub/.gitignore",
      "sub/b.log",
      "sub/build/x",
      "sub/sub.log",
    ]);
    expect(contentsOf(join(folder, ".git"))).toEqual(before);
  });

  it("leaves out what is being written: its tool beside it will have ended by the time that it is read", async () => {
    const { workspaces, start } = await open();
    const { session, lease, folder } = await start();
    const run = await workspaces.begin(session, lease);
    await run.before();
    const sandboxes = await createSandboxes({ backend: "local", environment: {} });
    const { files } = await sandboxes.open(session.id, folder);
    const seen = new Set<string>();
    const watcher = watch(folder, (_, name) => name && seen.add(name));
    await files.write("a.txt", "one");
    await expect.poll(() => seen.size).toBeGreaterThan(1);
    watcher.close();
    for (const name of seen) writeFileSync(join(folder, name), "half");
    await run.after();
    const stored = await workspaces.diff({}, EMPTY_TREE, run.snapshot_id);
    expect(stored.map(({ path }) => path)).toEqual(["a.txt"]);
    await sandboxes.close();
  });

  it("leaves out at any depth what is installed, unless a .gitignore wants it; and what the settings say", async () => {
    const paths = ["a", "node_modules/x/i.js", "lib/node_modules/y.js", ".venv/bin/p", "lib/__pycache__/c", "vendor/v"];
    const stored = async (exclude?: string[], ignore?: string) => {
      const { workspaces, start } = await open(exclude ? { exclude } : {});
      const { session, lease, folder } = await start();
      for (const path of paths) {
        mkdirSync(dirname(join(folder, path)), { recursive: true });
        writeFileSync(join(folder, path), path);
      }
      if (ignore) writeFileSync(join(folder, "lib/.gitignore"), ignore);
      const run = await workspaces.begin(session, lease);
      await run.after();
      return (await workspaces.diff({}, EMPTY_TREE, run.snapshot_id)).map(({ path }) => path);
    };
    expect(await stored()).toEqual(["a", "vendor/v"]);
    expect(await stored(undefined, "!node_modules")).toEqual([
      "a",
      "lib/.gitignore",
      "lib/node_modules/y.js",
      "vendor/v",
    ]);
    expect(await stored(["vendor", "/a"])).toEqual(
      [...paths].filter((path) => !["a", "vendor/v"].includes(path)).sort(),
    );
    expect(await stored([])).toEqual([...paths].sort());
  });

  it("is of each session's files, however many of them are stored at a time", async () => {
    const { workspaces, start, storage, errors } = await open();
    const started = await Promise.all(Array.from({ length: 100 }, () => start()));
    const stored = started.map(async ({ session, lease, folder }) => {
      const run = await workspaces.begin(session, lease);
      writeFileSync(join(folder, "a"), session.id);
      await run.after();
      const root = await storage.snapshots.readObjects(session.scopes, [run.snapshot_id]);
      return decodeTree(root.get(run.snapshot_id) ?? Buffer.of()).map(({ name, type }) => [name, type]);
    });
    for (const files of await Promise.all(stored)) expect(files).toEqual([["a", "file"]]);
    expect(errors).toEqual([]);
  });

  it("leaves out folders that are nested deeper than a path can say, and has the rest", async () => {
    const { workspaces, start, errors, storage } = await open();
    const { session, lease, folder } = await start();
    const run = await workspaces.begin(session, lease);
    nestFolders(folder, 30, "n".repeat(200));
    writeFileSync(join(folder, "a"), "reached");
    await run.after();
    expect(errors).toEqual([]);
    const root = await storage.snapshots.readObjects(session.scopes, [run.snapshot_id]);
    const names = decodeTree(root.get(run.snapshot_id) ?? Buffer.of()).map(({ name, type }) => [name[0], type]);
    expect(names).toEqual([
      ["a", "file"],
      ["n", "tree"],
    ]);
    await workspaces.remove(session);
    expect(existsSync(folder)).toBe(false);
  });

  it("reports what it can't store, and the run goes on with the one before", async () => {
    const { workspaces, start, errors } = await open({ quota_bytes: 10 });
    const { session, lease, folder } = await start();
    const run = await workspaces.begin(session, lease);
    writeFileSync(join(folder, "a"), "more than ten bytes");
    await run.after();
    expect(run.snapshot_id).toBe(EMPTY_TREE);
    expect(errors).toMatchObject([{ code: "limit_exceeded" }]);
  });

  it("is stored though another session took the room that was made for it, as long as more can be", async () => {
    const { storage, start, errors, root } = await open();
    let full = true;
    let sweeps = 0;
    const snapshots: SnapshotStore = {
      ...storage.snapshots,
      snapshotBytes: async () => (full ? 1_000 : 0),
      sweepSnapshots: async () => {
        full = ++sweeps < 2;
        return { objects: 1, bytes: 1, forgotten: 1 };
      },
    };
    const workspaces = createWorkspaces({
      snapshots,
      root,
      quota_bytes: 1_000,
      onError: (error) => errors.push(error),
    });
    const { session, lease, folder } = await start();
    const run = await workspaces.begin(session, lease);
    writeFileSync(join(folder, "a"), "some bytes");
    await run.after();
    await workspaces.close();
    expect(errors).toEqual([]);
    expect(run.ofStep).not.toBe(EMPTY_TREE);
  });
});

describe("a restore", () => {
  it("is exact: modes, links, odd names, empty folders, files in the place of folders and back", async () => {
    const all = await open();
    const { workspaces, start } = all;
    const { session, lease, folder } = await start();
    const run = await workspaces.begin(session, lease);
    writeFileSync(join(folder, "script.sh"), "#!/bin/sh\n");
    chmodSync(join(folder, "script.sh"), 0o755);
    mkdirSync(join(folder, "empty/deep"), { recursive: true });
    chmodSync(join(folder, "empty/deep"), 0o700);
    symlinkSync("script.sh", join(folder, "link"));
    symlinkSync("/etc/passwd", join(folder, "elsewhere"));
    mkdirSync(join(folder, "swap"));
    writeFileSync(join(folder, "swap/inner"), "inner");
    writeFileSync(join(folder, "ünï \n'\"$x"), "odd");
    writeFileSync(Buffer.concat([Buffer.from(`${folder}/bad`), Buffer.from([0xff, 0xfe])]), "not utf-8");
    writeFileSync(join(folder, "bytes"), Buffer.from([0, 1, 255]));
    await run.after();
    const first = { snapshot: run.snapshot_id, files: contentsOf(folder) };
    rmSync(join(folder, "swap"), { recursive: true });
    writeFileSync(join(folder, "swap"), "now a file");
    rmSync(join(folder, "script.sh"));
    mkdirSync(join(folder, "script.sh"));
    writeFileSync(join(folder, "script.sh/x"), "x");
    rmSync(join(folder, "link"));
    symlinkSync("bytes", join(folder, "link"));
    rmSync(join(folder, "empty"), { recursive: true });
    writeFileSync(join(folder, "bytes"), "text");
    await run.after();
    const second = { snapshot: run.snapshot_id, files: contentsOf(folder) };
    for (const { snapshot, files } of [first, second, first]) {
      await moveTo(all, session, snapshot);
      expect(contentsOf(folder)).toEqual(files);
      expect((await workspaces.look(session)).tree).toBe(snapshot);
    }
  });

  it.skipIf(process.getuid?.() !== 0)("belongs to whoever the folder belongs to, not to root", async () => {
    const all = await open();
    const { session, lease, folder } = await all.start();
    mkdirSync(join(folder, "a"));
    writeFileSync(join(folder, "a/b.txt"), "b");
    symlinkSync("b.txt", join(folder, "a/link"));
    const run = await all.workspaces.begin(session, lease);
    const first = run.snapshot_id;
    chownSync(folder, 4242, 4243);
    rmSync(join(folder, "a"), { recursive: true });
    await run.after();
    await moveTo(all, session, first);
    const owners = ["a", "a/b.txt", "a/link"].map((path) => lstatSync(join(folder, path)).uid);
    expect(owners).toEqual([4242, 4242, 4242]);
  });

  it("has no more than some large files in memory at a time", async () => {
    const all = await open();
    const { session, lease, folder } = await all.start();
    const run = await all.workspaces.begin(session, lease);
    for (const name of ["a", "b", "c", "d"]) writeFileSync(join(folder, name), Buffer.alloc(7_000_000, name));
    await run.after();
    const read: number[] = [];
    const readObjects: typeof all.storage.snapshots.readObjects = async (...asked) => {
      const contents = await all.storage.snapshots.readObjects(...asked);
      read.push([...contents.values()].reduce((sum, { length }) => sum + length, 0));
      return contents;
    };
    const other = await open({ snapshots: { ...all.storage.snapshots, readObjects } });
    const there = join(other.root, session.id);
    mkdirSync(there);
    await other.workspaces.begin(session, lease);
    expect(contentsOf(there)).toEqual(contentsOf(folder));
    expect(read.filter((bytes) => bytes > 1_000_000)).toEqual([14_000_000, 14_000_000]);
  });

  it("leaves ignored files and unknown ones where they are", async () => {
    const all = await open();
    const { session, lease, folder } = await all.start();
    writeFileSync(join(folder, ".gitignore"), "cache/\n");
    const run = await all.workspaces.begin(session, lease);
    const first = run.snapshot_id;
    mkdirSync(join(folder, "made/cache"), { recursive: true });
    writeFileSync(join(folder, "made/cache/x"), "ignored");
    writeFileSync(join(folder, "made/y"), "y");
    await run.after();
    writeFileSync(join(folder, "mine.txt"), "a person's");
    await moveTo(all, session, first);
    expect(existsSync(join(folder, "made/y"))).toBe(false);
    expect(readFileSync(join(folder, "made/cache/x"), "utf8")).toBe("ignored");
    expect(readFileSync(join(folder, "mine.txt"), "utf8")).toBe("a person's");
  });

  describe("leaves alone what was there and not stored:", () => {
    it("files that were ignored, once nothing ignores them any more", async () => {
      const all = await open();
      const { session, lease, folder } = await all.start();
      mkdirSync(join(folder, "cache/deep"), { recursive: true });
      for (const path of [".env", "cache/big.dat", "cache/deep/x"]) writeFileSync(join(folder, path), "a person's");
      // One that ignores itself is in no snapshot either.
      writeFileSync(join(folder, ".gitignore"), ".env\ncache/\n.gitignore\n");
      const run = await all.workspaces.begin(session, lease);
      const first = run.snapshot_id;
      const files = contentsOf(folder);
      writeFileSync(join(folder, ".gitignore"), "");
      writeFileSync(join(folder, "made"), "by a tool");
      await run.after();
      const { changes } = await all.workspaces.plan(session, run.snapshot_id, first);
      expect(changes.map(({ path }) => path)).toEqual(["made"]);
      await moveTo(all, session, first);
      expect(Object.keys(contentsOf(folder))).toEqual(Object.keys(files));
      expect(readFileSync(join(folder, "cache/deep/x"), "utf8")).toBe("a person's");
    });

    it("a file that was too large, and has become small", async () => {
      const all = await open({ max_file_bytes: 1_000 });
      const { session, lease, folder } = await all.start();
      writeFileSync(join(folder, "data.bin"), "x".repeat(1_001));
      const run = await all.workspaces.begin(session, lease);
      const first = run.snapshot_id;
      writeFileSync(join(folder, "data.bin"), "x".repeat(100));
      await run.after();
      await moveTo(all, session, first);
      expect(readFileSync(join(folder, "data.bin"), "utf8")).toHaveLength(100);
    });

    it("what the settings leave out, after they have changed", async () => {
      const all = await open({ exclude: ["vendor"] });
      const { session, lease, folder } = await all.start();
      mkdirSync(join(folder, "vendor"));
      writeFileSync(join(folder, "vendor/lib"), "installed");
      const first = (await all.workspaces.begin(session, lease)).snapshot_id;
      const wider = await open({ exclude: [], snapshots: all.storage.snapshots }, "memory", all.root);
      const run = await wider.workspaces.begin(session, lease);
      expect(run.snapshot_id).not.toBe(first);
      await moveTo({ ...all, workspaces: wider.workspaces }, session, first);
      expect(readFileSync(join(folder, "vendor/lib"), "utf8")).toBe("installed");
    });

    it("the server's database, wherever it lies, nor does a snapshot that has it from before bring it back", async () => {
      const all = await open();
      const { session, lease, folder } = await all.start(".");
      mkdirSync(join(folder, "data"));
      writeFileSync(join(folder, "data/app.db"), "before");
      const stored = (await all.workspaces.begin(session, lease)).snapshot_id;
      writeFileSync(join(folder, "data/app.db"), "now");
      const never = [join(folder, "data/app.db")];
      const { workspaces } = await open({ never, snapshots: all.storage.snapshots }, "memory", all.root);
      const { tree: now } = await workspaces.look(session);
      expect((await workspaces.diff(session.scopes, EMPTY_TREE, now)).map(({ path }) => path)).toEqual([]);
      await moveTo({ ...all, workspaces }, session, stored);
      expect(readdirSync(join(folder, "data"))).toEqual(["app.db"]);
      expect(readFileSync(join(folder, "data/app.db"), "utf8")).toBe("now");
      const fork = { ...session, id: "fork", workspace_path: "fork" };
      mkdirSync(join(folder, "fork"));
      await workspaces.cloneFrom(session, fork);
      expect(existsSync(join(folder, "fork/data/app.db"))).toBe(false);
    });

    it("a file that is ignored from then on, when that is done again", async () => {
      const all = await open();
      const { session, lease, folder } = await all.start();
      writeFileSync(join(folder, "a.txt"), "one");
      const run = await all.workspaces.begin(session, lease);
      const first = run.snapshot_id;
      writeFileSync(join(folder, ".gitignore"), "a.txt\n");
      await run.after();
      const second = run.snapshot_id;
      for (const snapshot of [first, second]) {
        await moveTo(all, session, snapshot);
        expect(readFileSync(join(folder, "a.txt"), "utf8")).toBe("one");
      }
      expect(existsSync(join(folder, ".gitignore"))).toBe(true);
    });

    it("in a shared folder too", async () => {
      const all = await open({ max_file_bytes: 1_000 });
      const { session, lease, folder } = await all.start("project");
      writeFileSync(join(folder, ".gitignore"), ".env\n");
      writeFileSync(join(folder, ".env"), "a person's");
      writeFileSync(join(folder, "data.bin"), "x".repeat(1_001));
      const run = await all.workspaces.begin(session, lease);
      const first = run.snapshot_id;
      await run.before();
      rmSync(join(folder, ".gitignore"));
      writeFileSync(join(folder, "data.bin"), "x".repeat(100));
      await run.after();
      await moveTo(all, session, first);
      expect(readdirSync(folder).toSorted()).toEqual([".env", ".gitignore", "data.bin"]);
      expect(all.errors).toEqual([]);
    });

    it("and what is not stored now is in the way of what was", async () => {
      const all = await open({ max_file_bytes: 1_000 });
      const { session, lease, folder } = await all.start();
      writeFileSync(join(folder, "data.bin"), "x".repeat(100));
      const run = await all.workspaces.begin(session, lease);
      const first = run.snapshot_id;
      writeFileSync(join(folder, "data.bin"), "x".repeat(1_001));
      await run.after();
      expect(await all.workspaces.plan(session, run.snapshot_id, first)).toMatchObject({ conflicts: ["data.bin"] });
    });
  });

  it("is refused where others have changed a file, with the list, and nothing is touched", async () => {
    const { workspaces, start } = await open();
    const { session, lease, folder } = await start();
    const run = await workspaces.begin(session, lease);
    writeFileSync(join(folder, "a"), "1");
    writeFileSync(join(folder, "b"), "1");
    await run.after();
    const first = run.snapshot_id;
    writeFileSync(join(folder, "a"), "2");
    writeFileSync(join(folder, "b"), "2");
    await run.after();
    expect(await workspaces.plan(session, run.snapshot_id, first)).toMatchObject({ conflicts: [] });
    writeFileSync(join(folder, "b"), "a person's");
    const { conflicts, changes } = await workspaces.plan(session, run.snapshot_id, first);
    expect(conflicts).toEqual(["b"]);
    expect(await workspaces.describe({}, changes)).toMatchObject([
      { path: "a", change: "modified", diff: expect.stringContaining("-2\n\\ No newline") },
      { path: "b", change: "modified" },
    ]);
    expect(readFileSync(join(folder, "a"), "utf8")).toBe("2");
  });

  it("is refused where a folder that is to be a file again holds what nobody knows of, however deep", async () => {
    const { workspaces, start } = await open();
    const { session, lease, folder } = await start();
    const run = await workspaces.begin(session, lease);
    writeFileSync(join(folder, "d"), "a file");
    await run.after();
    const first = run.snapshot_id;
    rmSync(join(folder, "d"));
    mkdirSync(join(folder, "d/e"), { recursive: true });
    writeFileSync(join(folder, "d/e/known"), "1");
    await run.after();
    expect((await workspaces.plan(session, run.snapshot_id, first)).conflicts).toEqual([]);
    writeFileSync(join(folder, "d/e/unknown"), "1");
    expect((await workspaces.plan(session, run.snapshot_id, first)).conflicts).toEqual(["d"]);
  });

  it("that was cut off half-way is finished before the next run begins, on the same node and on another", async () => {
    const all = await open();
    const { session, lease, folder } = await all.start();
    const run = await all.workspaces.begin(session, lease);
    for (const name of ["a", "b", "c"]) writeFileSync(join(folder, name), "1");
    await run.after();
    const first = { snapshot: run.snapshot_id, files: contentsOf(folder) };
    for (const name of ["a", "b", "d"]) writeFileSync(join(folder, name), "2");
    rmSync(join(folder, "c"));
    await run.after();
    // The storage has moved, one file is back already and another half written: then the process died.
    const moved = { thread_id: session.thread_id, snapshot_id: first.snapshot, objects: [], bytes: 0 };
    await all.storage.snapshots.saveSnapshot(moved);
    writeFileSync(join(folder, "a"), "1");
    writeFileSync(join(folder, ".cognition-unfinished-1"), "ha");
    const again = await all.workspaces.begin(session, lease);
    expect(again.snapshot_id).toBe(first.snapshot);
    expect(contentsOf(folder, [".cognition-unfinished-1"])).toEqual(first.files);

    const other = await open({ snapshots: all.storage.snapshots });
    const there = join(other.root, session.id);
    mkdirSync(there);
    expect((await other.workspaces.begin(session, lease)).snapshot_id).toBe(first.snapshot);
    expect(contentsOf(there)).toEqual(first.files);
  });

  it.each([
    { what: "", name: "a", kept: "a" },
    { what: ", by as much of its name as there is room for", name: "ü".repeat(127), kept: "ü".repeat(120) },
  ])("keeps beside its place what a person changed on a node that had fallen behind$what", async ({ name, kept }) => {
    // Its time stands in the name: a clock that stands still has always the same length.
    const all = await open({ now: () => 1_800_000_000_000 });
    const { session, lease, folder } = await all.start();
    const run = await all.workspaces.begin(session, lease);
    writeFileSync(join(folder, name), "1");
    await run.after();
    const first = run.snapshot_id;
    writeFileSync(join(folder, name), "2");
    await run.after();
    await all.storage.snapshots.saveSnapshot({
      thread_id: session.thread_id,
      snapshot_id: first,
      objects: [],
      bytes: 0,
    });
    const aside = `${kept}.local-${(1_800_000_000_000).toString(36)}`;
    writeFileSync(join(folder, name), "a person's");
    writeFileSync(join(folder, aside), "kept at the same moment");
    await all.workspaces.begin(session, lease);
    expect(readFileSync(join(folder, name), "utf8")).toBe("1");
    expect(readFileSync(join(folder, aside), "utf8")).toBe("kept at the same moment");
    const beside = readdirSync(folder).filter((each) => ![name, aside].includes(each));
    expect(beside).toEqual([expect.stringMatching(/^[aü]+\.local-\w+-2$/)]);
    expect(readFileSync(join(folder, beside[0] ?? ""), "utf8")).toBe("a person's");
  });

  it("begins at a snapshot that was swept since: as the folder is, or beside what nobody can tell apart any more", async () => {
    for (const isTouched of [false, true]) {
      const all = await open();
      const { session, lease, folder } = await all.start();
      const run = await all.workspaces.begin(session, lease);
      for (const name of ["a", "b"]) writeFileSync(join(folder, name), "1");
      await run.after();
      const other = await open({ snapshots: all.storage.snapshots });
      const there = join(other.root, session.id);
      mkdirSync(there);
      const elsewhere = await other.workspaces.begin(session, lease);
      writeFileSync(join(there, "a"), "2");
      rmSync(join(there, "b"));
      await elsewhere.after();
      expect((await all.storage.snapshots.sweepSnapshots({ scope: {}, grace_ms: -60_000 })).objects).toBeGreaterThan(0);
      if (isTouched) writeFileSync(join(folder, "c"), "a person's");
      await all.workspaces.settle(session, false);
      expect((await all.workspaces.begin(session, lease)).snapshot_id === elsewhere.snapshot_id).toBe(!isTouched);
      const names = readdirSync(folder).map((name) => name.replace(/local-.*/, "local"));
      expect(names).toEqual(isTouched ? ["a", "a.local", "b", "c"] : ["a"]);
      expect(readFileSync(join(folder, "a"), "utf8")).toBe("2");
    }
  });

  it("never goes through a link that took a folder's place", async () => {
    const all = await open();
    const { session, lease, folder } = await all.start();
    const outside = join(all.root, "outside");
    mkdirSync(outside);
    mkdirSync(join(folder, "sub"));
    writeFileSync(join(folder, "sub/a"), "1");
    const run = await all.workspaces.begin(session, lease);
    const first = run.snapshot_id;
    writeFileSync(join(folder, "sub/a"), "2");
    await run.after();
    rmSync(join(folder, "sub"), { recursive: true });
    symlinkSync(outside, join(folder, "sub"));
    writeFileSync(join(outside, "a"), "not ours");
    await moveTo(all, session, first);
    expect(readFileSync(join(outside, "a"), "utf8")).toBe("not ours");
    const kept = readdirSync(folder).find((name) => name.startsWith("sub.local-")) ?? "";
    expect([readlinkSync(join(folder, kept)), readFileSync(join(folder, "sub/a"), "utf8")]).toEqual([outside, "1"]);
  });
});

describe("a shared folder", () => {
  it("goes back only where this session's tools have changed it", async () => {
    const all = await open();
    const { session, lease, folder } = await all.start("project");
    writeFileSync(join(folder, "readme"), "theirs");
    const run = await all.workspaces.begin(session, lease);
    const first = run.snapshot_id;
    await run.before();
    mkdirSync(join(folder, "src"));
    writeFileSync(join(folder, "src/ours"), "1");
    await run.after();
    writeFileSync(join(folder, "readme"), "changed by a person");
    writeFileSync(join(folder, "src/theirs"), "a person's");
    await run.before();
    writeFileSync(join(folder, "second"), "1");
    await run.after();
    const { changes, conflicts } = await all.workspaces.plan(session, run.snapshot_id, first);
    expect(changes.map(({ path }) => path)).toEqual(["second", "src", "src/ours"]);
    expect(conflicts).toEqual([]);
    await moveTo(all, session, first);
    expect(contentsOf(folder)).toMatchObject({ readme: expect.any(String), "src/theirs": expect.any(String) });
    expect(readdirSync(join(folder, "src"))).toEqual(["theirs"]);
    expect(readFileSync(join(folder, "readme"), "utf8")).toBe("changed by a person");
    expect(all.errors).toEqual([]);
  });

  it("that was left at a snapshot which was swept since is taken as it is: nobody can tell what is whose", async () => {
    const { workspaces, start, storage } = await open();
    const { session, lease, folder } = await start("project");
    writeFileSync(join(folder, "readme"), "theirs");
    const run = await workspaces.begin(session, lease);
    const first = run.snapshot_id;
    await run.before();
    writeFileSync(join(folder, "readme"), "ours");
    await run.after();
    // Another node has put it back.
    const { thread_id } = session;
    await storage.snapshots.saveSnapshot({ thread_id, snapshot_id: first, objects: [], bytes: 0 });
    await storage.snapshots.sweepSnapshots({ scope: session.scopes, grace_ms: -60_000 });
    expect((await workspaces.begin(session, lease)).snapshot_id).toBe(first);
    expect(readdirSync(folder)).toEqual(["readme"]);
    expect(readFileSync(join(folder, "readme"), "utf8")).toBe("ours");
  });

  it("has no folder of others, though a tool has removed a file of theirs in it", async () => {
    const { workspaces, start } = await open();
    const { session, lease, folder } = await start("project");
    const run = await workspaces.begin(session, lease);
    const first = run.snapshot_id;
    mkdirSync(join(folder, "theirs"));
    for (const name of ["a", "b"]) writeFileSync(join(folder, "theirs", name), "1");
    await run.before();
    rmSync(join(folder, "theirs/a"));
    await run.after();
    expect(run.ofStep).toBe(first);
  });

  it("is whole where a tool has written over what a person changed, after a sweep of what was theirs", async () => {
    const { workspaces, start, storage } = await open();
    const { session, lease, folder } = await start("project");
    for (let i = 0; i < 20; i++) writeFileSync(join(folder, `file${i}`), `${i}`);
    const run = await workspaces.begin(session, lease);
    writeFileSync(join(folder, "file3"), "a person's");
    await run.before();
    writeFileSync(join(folder, "ours"), "1");
    await run.after();
    const sweep = { scope: session.scopes, grace_ms: -60_000 };
    await storage.snapshots.sweepSnapshots(sweep);
    await run.before();
    writeFileSync(join(folder, "file3"), "a tool's");
    await run.after();
    expect((await storage.snapshots.readObjects(session.scopes, [run.ofStep ?? ""])).size).toBe(1);
    await storage.snapshots.sweepSnapshots(sweep);
  });

  it("has a person's file that a tool gave another mode", async () => {
    const { workspaces, start, storage } = await open();
    const { session, lease, folder } = await start("project");
    const run = await workspaces.begin(session, lease);
    writeFileSync(join(folder, "script"), "a person's");
    await run.before();
    chmodSync(join(folder, "script"), 0o755);
    await run.after();
    const root = await storage.snapshots.readObjects(session.scopes, [run.ofStep ?? ""]);
    const [script] = decodeTree(root.get(run.ofStep ?? "") ?? Buffer.of());
    const held = await storage.snapshots.readObjects(session.scopes, [script?.hash ?? ""]);
    expect(Buffer.from(held.get(script?.hash ?? "") ?? "").toString()).toBe("a person's");
  });

  it("has what a long command changed there, however many steps another session took meanwhile", async () => {
    const { workspaces, start, storage, errors } = await open();
    const [long, short] = [await start("project"), await start("project")];
    const run = await workspaces.begin(long.session, long.lease);
    const other = await workspaces.begin(short.session, short.lease);
    await run.before();
    for (let i = 0; i < 10; i++) {
      await other.before();
      writeFileSync(join(short.folder, "theirs"), `${i}`);
      await other.after();
    }
    writeFileSync(join(long.folder, "ours"), "1");
    await run.after();
    expect(errors).toEqual([]);
    const tree = await storage.snapshots.readObjects(long.session.scopes, [run.ofStep ?? ""]);
    expect(decodeTree(tree.get(run.ofStep ?? "") ?? Buffer.of()).map(({ name }) => name)).toContain("ours");
  });

  it.each([
    { code: "storage_unavailable", what: "away for a moment: it waits", waiting: new AbortController().signal },
    { code: "limit_exceeded", what: "full for a moment: the next step has it", waiting: undefined },
  ] as const)("has what a tool changed there though the storage was $what", async ({ code, waiting }) => {
    const { workspaces, start, storage } = await open();
    const { session, lease, folder } = await start("project");
    const run = await workspaces.begin(session, lease);
    const first = run.snapshot_id;
    const { saveSnapshot } = storage.snapshots;
    storage.snapshots.saveSnapshot = async () => {
      storage.snapshots.saveSnapshot = saveSnapshot;
      throw new AppError(code, "for a moment");
    };
    await run.before();
    writeFileSync(join(folder, "ours"), "1");
    await run.after(waiting);
    expect(run.ofStep).toBe(waiting ? run.snapshot_id : undefined);
    await run.before();
    await run.after();
    expect(run.ofStep).toBe(run.snapshot_id);
    const { changes } = await workspaces.plan(session, run.snapshot_id, first);
    expect(changes.map(({ path }) => path)).toEqual(["ours"]);
  });
});
