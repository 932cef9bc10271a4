import { existsSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { createTempDir } from "../../../testing/temp-dir.ts";
import { openStorage } from "../src/open-storage.ts";

const REFUSED = { code: "storage_unavailable", message: expect.stringContaining("removed or replaced") };

async function openIn(path: string) {
  const storage = await openStorage(path);
  onTestFinished(() => storage.close());
  return storage;
}

/** A folder of its own, so that it can go as a whole. */
function folder() {
  const dir = createTempDir();
  onTestFinished(() => dir.remove());
  const data = join(dir.path, "data");
  return { data, path: join(data, "state.db"), spare: join(dir.path, "spare.db") };
}

type Folder = ReturnType<typeof folder>;

const WAYS: [string, (folder: Folder) => void | Promise<void>][] = [
  ["is removed", ({ path }) => rmSync(path)],
  ["is removed with its folder", ({ data }) => rmSync(data, { recursive: true })],
  ["is moved away", ({ path, spare }) => renameSync(path, spare)],
  [
    "is replaced by another",
    async ({ path, spare }) => {
      await (await openStorage(spare)).close();
      renameSync(spare, path);
    },
  ],
];

describe.skipIf(process.platform === "win32")("a SQLite file that", () => {
  it.each(WAYS)("%s while it is open takes no more writes, and says why", async (_, lose) => {
    const place = folder();
    const storage = await openIn(place.path);
    const { id } = await storage.createSession({ title: "kept" });
    await lose(place);
    await expect(storage.createSession({ title: "lost" })).rejects.toMatchObject(REFUSED);
    const saver = await storage.getCheckpointer();
    await expect(saver.deleteThread("t")).rejects.toMatchObject(REFUSED);
    await expect((await storage.getStore()).put(["a"], "k", { v: 1 })).rejects.toMatchObject(REFUSED);
    expect(await storage.healthCheck()).toMatchObject({ ok: false, error: expect.stringContaining("start again") });
    expect((await storage.listSessions()).map((session) => session.id)).toEqual([id]);
  });

  it.each(["-wal", "-shm"])(
    "lost what SQLite keeps beside it as %s takes no more writes, and keeps all before",
    async (end) => {
      const { path } = folder();
      const storage = await openIn(path);
      const { id } = await storage.createSession({ title: "kept" });
      rmSync(`${path}${end}`);
      await expect(storage.createSession({ title: "lost" })).rejects.toMatchObject(REFUSED);
      expect(await storage.healthCheck()).toMatchObject({ ok: false, error: expect.stringContaining(`${path}${end}`) });
      expect((await storage.listSessions()).map((session) => session.id)).toEqual([id]);
      await storage.close();
      expect((await (await openIn(path)).listSessions()).map((session) => session.id)).toEqual([id]);
    },
  );

  it("was away once takes none when it is back either: somebody else may have begun a new one", async () => {
    const { path, spare } = folder();
    const storage = await openIn(path);
    renameSync(path, spare);
    await expect(storage.createSession({})).rejects.toMatchObject(REFUSED);
    renameSync(spare, path);
    await expect(storage.createSession({})).rejects.toMatchObject(REFUSED);
    await storage.close();
    expect((await (await openIn(path)).createSession({})).title).toBeNull();
  });

  it("was removed is not healthy, also where nobody has written since", async () => {
    const { path } = folder();
    const storage = await openIn(path);
    expect(await storage.healthCheck()).toMatchObject({ ok: true });
    rmSync(path);
    expect(await storage.healthCheck()).toMatchObject({ ok: false, error: expect.stringContaining("removed") });
  });

  it("replaced another is not harmed by whoever had that one open, nor by his closing it", async () => {
    const place = folder();
    const old = await openIn(place.path);
    await old.createSession({ title: "old" });
    rmSync(place.data, { recursive: true });
    const fresh = await openIn(place.path);
    const { id } = await fresh.createSession({ title: "fresh" });
    await expect(old.createSession({})).rejects.toMatchObject(REFUSED);
    await old.close();
    await fresh.createSession({ title: "more" });
    await fresh.close();
    expect(existsSync(place.path)).toBe(true);
    const titles = (await (await openIn(place.path)).listSessions()).map(({ title }) => title);
    expect(titles).toEqual(["more", "fresh"]);
    expect(id).toEqual(expect.any(String));
  });
});
