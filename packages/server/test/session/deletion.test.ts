import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openStorage, type Storage } from "@cognition/thread";
import { describe, expect, it, onTestFinished } from "vitest";
import { createTempDir } from "../../../../testing/temp-dir.ts";
import { createDeletedFolders } from "../../src/session/deleted-folders.ts";
import { startTestServer, type TestServer } from "../http/test-server.ts";
import { nestFolders } from "../sandbox/nest-folders.ts";
import { make, talkTo } from "../timeline/talk.ts";

const remove = (on: TestServer, id: string) => on.ask(`/sessions/${id}`, { method: "DELETE" });

/** What the server has made in its root: folders of sessions, and its notes of where they stand. */
function leftIn({ root }: TestServer): string[] {
  const notes = join(root, ".cognition", "workspaces");
  return [
    ...readdirSync(root).filter((name) => name !== ".cognition"),
    ...(existsSync(notes) ? readdirSync(notes) : []),
  ];
}

it("a session whose folders are nested deeper than a path is long is deleted with them", async () => {
  const on = await startTestServer();
  const { id, workspace_path } = await on.createSession();
  nestFolders(workspace_path ?? "", 30, "n".repeat(200));
  expect((await remove(on, id)).status).toBe(204);
  expect(leftIn(on)).toEqual([]);
});

describe("a server that dies while it deletes a session", () => {
  async function open(): Promise<Storage> {
    const storage = await openStorage("memory");
    onTestFinished(() => storage.close());
    return storage;
  }

  it("removes the session's folder when it is there again, and none that a user made", async () => {
    const storage = await open();
    const dies = async (...args: Parameters<Storage["deleteSession"]>): Promise<boolean> => {
      await storage.deleteSession(...args);
      throw new Error("the process has died");
    };
    const first = await startTestServer({ storage: { ...storage, deleteSession: dies } });
    const { id, workspace_path } = await first.createSession();
    writeFileSync(join(workspace_path ?? "", "a.txt"), "one");
    const given = await first.createSession({ workspace_path: join(first.root, "project") });
    const strangers = crypto.randomUUID();
    mkdirSync(join(first.root, strangers));
    for (const session_id of [id, given.id]) expect((await remove(first, session_id)).status).toBe(500);
    expect(leftIn(first)).toContain(id);
    await first.server.close(0);
    const second = await startTestServer({ storage, root: first.root });
    await expect.poll(() => leftIn(second).toSorted()).toEqual([strangers, "project"].toSorted());
  });

  it("leaves the folder of one that was not deleted after all", async () => {
    const storage = await open();
    const fails = async (): Promise<boolean> => {
      throw new Error("the process has died");
    };
    const first = await startTestServer({ storage: { ...storage, deleteSession: fails } });
    const { id } = await first.createSession();
    expect((await remove(first, id)).status).toBe(500);
    await first.server.close(0);
    const second = await startTestServer({ storage, root: first.root });
    const other = await second.createSession();
    expect((await remove(second, other.id)).status).toBe(204);
    expect(readdirSync(second.root)).toContain(id);
    expect((await remove(second, id)).status).toBe(204);
    expect(leftIn(second)).toEqual([]);
  });
});

describe("a session that is deleted where this node does not hear of it", () => {
  it("takes its folder along when the node is there again, and none that is another storage's", async () => {
    const storage = await openStorage("memory");
    onTestFinished(() => storage.close());
    const first = await startTestServer({ storage });
    const [gone, kept] = [await first.createSession(), await first.createSession()];
    for (const session of [gone, kept]) await talkTo(first, session).say(make("a.txt", "one"));
    const elsewhere = crypto.randomUUID();
    mkdirSync(join(first.root, elsewhere));
    await first.server.close(0);
    await storage.deleteSession(gone.id);
    const second = await startTestServer({ storage, root: first.root });
    await expect.poll(() => leftIn(second)).not.toContain(gone.id);
    expect(readdirSync(second.root).toSorted()).toEqual([".cognition", elsewhere, kept.id].toSorted());
    expect((await remove(second, kept.id)).status).toBe(204);
    expect(leftIn(second)).toEqual([elsewhere]);
  });

  it("is cleared also where the folder of another one can't be", async () => {
    const storage = await openStorage("memory");
    const dir = createTempDir();
    const errors: unknown[] = [];
    let stuck = "";
    const folders = createDeletedFolders({
      storage,
      sandboxes: { remove: async () => undefined },
      engine: { untilLeft: async () => undefined },
      workspaces: {
        remove: async ({ id }) => {
          if (id === stuck) throw new Error("not permitted");
          rmSync(join(dir.path, id), { recursive: true });
        },
      },
      workspace_root: dir.path,
      onError: (error) => errors.push(error),
    });
    onTestFinished(async () => {
      folders.stop();
      await storage.close();
      dir.remove();
    });
    for (let made = 0; made < 3; made++) {
      const { id } = await storage.createSession({});
      mkdirSync(join(dir.path, id));
      await storage.deleteSession(id);
    }
    const made = readdirSync(dir.path);
    stuck = (await storage.findDeletedSessions(made))[0] ?? "";
    folders.start();
    await expect.poll(() => readdirSync(dir.path)).toEqual([stuck]);
    expect(errors).toMatchObject([{ message: "not permitted" }]);
  });

  it("is found by looking, too", async () => {
    const storage = await openStorage("memory");
    const dir = createTempDir();
    const folders = createDeletedFolders({
      storage: { ...storage, watchDeletions: async () => () => undefined },
      sandboxes: { remove: async () => undefined },
      engine: { untilLeft: async () => undefined },
      workspaces: { remove: async ({ id }) => rmSync(join(dir.path, id), { recursive: true }) },
      workspace_root: dir.path,
      look_ms: 10,
      onError: (error) => expect.unreachable(String(error)),
    });
    onTestFinished(async () => {
      folders.stop();
      await storage.close();
      dir.remove();
    });
    const { id } = await storage.createSession({});
    mkdirSync(join(dir.path, id));
    folders.start();
    await storage.deleteSession(id);
    await expect.poll(() => readdirSync(dir.path)).toEqual([]);
  });
});

describe("a session that is deleted while somebody works with it", () => {
  const post = (on: TestServer, path: string, json: unknown) =>
    on.ask(path, { method: "POST", json, headers: { Accept: "application/json" } });
  const AT_THE_SAME_TIME: Record<string, (on: TestServer, path: string) => Promise<Response>> = {
    rewind: (on, path) => post(on, `${path}/rewind`, { last: "turn" }),
    fork: (on, path) => post(on, `${path}/fork`, {}),
    message: (on, path) => post(on, `${path}/messages`, { content: make("b.txt", "two") }),
    files: (on, path) => on.ask(`${path}/files`),
    archive: (on, path) => on.ask(`${path}/files?archive=tar`),
    put: (on, path) => on.ask(`${path}/files/c.txt`, { method: "PUT", body: "three" }),
  };

  it.each(Object.keys(AT_THE_SAME_TIME))(
    "is gone with its folder, and %s says so at most",
    { tags: "long" },
    async (name) => {
      const on = await startTestServer();
      for (let round = 0; round < 4; round++) {
        const session = await on.createSession();
        const talk = talkTo(on, session);
        await talk.say(make("a.txt", "one"));
        for (let n = 0; n < 50; n++) writeFileSync(join(session.workspace_path ?? "", `f${n}`), "x");
        const asked = AT_THE_SAME_TIME[name]?.(on, `/sessions/${session.id}`);
        const [deleted, other] = await Promise.all([remove(on, session.id), asked]);
        expect(deleted.status, await deleted.text()).toBe(204);
        expect([200, 201, 204, 404]).toContain(other?.status);
        // An archive that has begun breaks off: it must not pass for a whole one.
        await other?.text().catch((error: unknown) => expect(error).toMatchObject({ code: "workspace_path_refused" }));
        expect(leftIn(on)).not.toContain(session.id);
      }
      if (name !== "fork") expect(leftIn(on)).toEqual([]);
    },
  );
});

it("a folder that has become a file is told of, by every way to it", async () => {
  const on = await startTestServer();
  const session = await on.createSession();
  const talk = talkTo(on, session);
  await talk.say(make("a.txt", "one"));
  const [head] = await talk.checkpoints();
  rmSync(session.workspace_path ?? "", { recursive: true });
  writeFileSync(session.workspace_path ?? "", "a file");
  for (const path of ["/files", "/files/a.txt", `/checkpoints/${head?.id}/diff`])
    expect((await talk.get(path)).body).toMatchObject({ status: 422, code: "workspace_path_refused" });
});
