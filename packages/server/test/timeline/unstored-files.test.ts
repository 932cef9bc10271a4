import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Session } from "@cognition/contract";
import { describe, expect, it } from "vitest";
import { defaultConfig } from "../../src/config.ts";
import { make, startTalk, talkTo } from "./talk.ts";

describe("a rewind of a session's first message", () => {
  for (const isolation of ["session", "shared"] as const) {
    it(`needs no snapshot where no file was touched (${isolation})`, async () => {
      const talk = await startTalk({ isolation });
      await talk.say("Hello");
      expect(await talk.rewind({ last: "turn" })).toMatchObject({ files: [] });
      await talk.say("Hello again");
      expect(await talk.rewind({ last: "turn" })).toMatchObject({ files: [] });
      expect(await talk.texts()).toEqual([]);
    });

    it(`works again after one that took the conversation alone (${isolation})`, async () => {
      const talk = await startTalk({ isolation });
      await talk.say("Hello");
      await talk.rewind({ last: "turn", restore: ["conversation"] });
      await talk.say(make("a.txt", "one"));
      expect(await talk.rewind({ last: "turn" })).toMatchObject({ files: [{ path: "a.txt", change: "deleted" }] });
      expect(talk.file("a.txt")).toBeUndefined();
    });
  }

  it("in a shared folder that holds others' files leaves those alone", async () => {
    const talk = await startTalk({ isolation: "shared" });
    writeFileSync(join(talk.on.root, "theirs.txt"), "theirs");
    await talk.say(make("a.txt", "one"));
    writeFileSync(join(talk.on.root, "theirs.txt"), "changed");
    await talk.rewind({ last: "turn" });
    expect([talk.file("a.txt"), talk.file("theirs.txt")]).toEqual([undefined, "changed"]);
  });

  it("works where the quota has no room left: an empty folder takes none", async () => {
    const config = defaultConfig();
    const workspace = { ...config.workspace, snapshot_quota: 2_000 };
    const talk = await startTalk({ config: { ...config, workspace } });
    await talk.say("Hello");
    await talk.say(make("a.txt", "one"));
    writeFileSync(join(talk.session.workspace_path ?? "", "large"), randomBytes(5_000));
    await talk.say("Hello again");
    expect(talk.on.faults).toMatchObject([{ code: "limit_exceeded" }]);
    const first = (await talk.checkpoints()).at(-1)?.id;
    expect(await talk.rewind({ checkpoint_id: first })).toMatchObject({
      files: [{ path: "a.txt", change: "deleted" }],
    });
  });
});

it("a fork of now says what to do where its files have no room; one of a checkpoint has that one's", async () => {
  const config = defaultConfig();
  const talk = await startTalk({ config: { ...config, workspace: { ...config.workspace, snapshot_quota: 2_000 } } });
  await talk.say(make("a.txt", "one"));
  writeFileSync(join(talk.session.workspace_path ?? "", "large"), randomBytes(5_000));
  expect((await talk.post("/fork", {})).body).toMatchObject({
    code: "limit_exceeded",
    detail: expect.stringContaining("No fork was made: name the checkpoint_id"),
  });
  const checkpoint_id = (await talk.checkpoints())[0]?.id;
  const { status, body } = await talk.post<Session>("/fork", { checkpoint_id });
  expect([status, talkTo(talk.on, body).file("a.txt")]).toEqual([201, "one"]);
});

it("a step whose files could not be stored does not pass for one with those of before", async () => {
  const config = defaultConfig();
  const talk = await startTalk({ config: { ...config, workspace: { ...config.workspace, snapshot_quota: 2_000 } } });
  await talk.say(make("a.txt", "one"));
  await talk.say("Run the command: dd if=/dev/urandom of=large bs=5000 count=1");
  const full = (await talk.checkpoints())[0];
  expect([talk.on.faults.length > 0, full?.snapshot_id]).toEqual([true, null]);
  await talk.say("Run the command: rm large");
  const again = (await talk.checkpoints())[0];
  expect(again?.snapshot_id).not.toBeNull();
  const { status, body } = await talk.post("/rewind", { checkpoint_id: full?.id });
  expect([status, body["code"]]).toEqual([404, "snapshot_not_found"]);
  await talk.rewind({ checkpoint_id: full?.id, restore: ["conversation"] });
  await talk.rewind({ checkpoint_id: again?.id });
  expect(talk.file("a.txt")).toBe("one");
});

it("a point whose files the quota has let go is told by each way there, and is left for the conversation alone", async () => {
  const config = defaultConfig();
  const talk = await startTalk({ config: { ...config, workspace: { ...config.workspace, snapshot_quota: 4_000 } } });
  const write = (i: number) => talk.say(`Run the command: dd if=/dev/urandom of=${i} bs=1000 count=1`);
  for (const i of [1, 2, 3]) await write(i);
  await talk.say("Run the command: rm 1 2 3");
  for (const i of [4, 5]) await write(i);
  const checkpoints = await talk.checkpoints();
  const gone = checkpoints.find(({ snapshot_id }) => snapshot_id === null)?.id ?? "";
  const head = checkpoints[0]?.id ?? "";
  const answers = [
    await talk.post("/fork", { checkpoint_id: gone }),
    await talk.post("/rewind", { checkpoint_id: gone }),
    await talk.get(`/checkpoints/${gone}/diff`),
    await talk.get(`/checkpoints/${head}/diff?to=${gone}`),
  ];
  for (const { status, body } of answers) expect([status, body["code"]]).toEqual([404, "snapshot_not_found"]);
  expect((await talk.post("/fork", { checkpoint_id: gone, files: false })).status).toBe(201);
  expect((await talk.post("/rewind", { checkpoint_id: gone, restore: ["conversation"] })).status).toBe(200);
});

it("an undo leaves a person's ignored files, though a tool has removed what ignored them", async () => {
  const talk = await startTalk();
  const folder = talk.session.workspace_path ?? "";
  writeFileSync(join(folder, ".gitignore"), ".env\n");
  writeFileSync(join(folder, ".env"), "secret");
  await talk.say(make("a.txt", "one"));
  await talk.say("Run the command: rm .gitignore");
  expect(await talk.rewind({ last: "turn" })).toMatchObject({ files: [{ path: ".gitignore", change: "added" }] });
  expect([talk.file(".env"), talk.file(".gitignore"), talk.file("a.txt")]).toEqual(["secret", ".env\n", "one"]);
});
