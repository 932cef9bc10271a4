import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Checkpoint, CheckpointState, Message, Session } from "@cognition/contract";
import { describe, expect, it } from "vitest";
import { make, startTalk, type Talk, talkTo } from "./talk.ts";

describe("checkpoints", () => {
  it("say what was said, which tool, how it went and what came next", async () => {
    const talk = await startTalk();
    await talk.say(make("notes.txt", "hello"));
    const all = await talk.checkpoints();
    expect(all[0]).toMatchObject({ is_head: true, next: [], message_count: 4 });
    const before = all.find(({ next }) => next.includes("tools"));
    expect(before).toMatchObject({
      summary: "write_file(/notes.txt, hello)",
      tool_calls: [{ name: "write_file", status: "pending" }],
    });
    const after = all.find(({ summary }) => summary.startsWith("write_file: Success"));
    expect(after).toMatchObject({ tool_calls: [{ name: "write_file", status: "ok" }], next: ["model_request"] });
    expect(after?.snapshot_id).not.toBe(before?.snapshot_id);
    const runs = new Set(all.map(({ run_id }) => run_id));
    expect(runs.size).toBe(1);
    const { body: state } = await talk.get<CheckpointState>(`/checkpoints/${before?.id}`);
    expect(state.messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
    expect(state).toMatchObject({ variables: { todos: [] }, pending_tasks: [{ name: "tools" }] });
    const { body: page } = await talk.get<{ checkpoints: Checkpoint[]; has_more: boolean }>("/checkpoints?limit=2");
    expect(page).toMatchObject({ has_more: true, checkpoints: all.slice(0, 2) });
    const { body: next } = await talk.get<{ checkpoints: Checkpoint[] }>(`/checkpoints?limit=2&before=${all[1]?.id}`);
    expect(next.checkpoints).toEqual(all.slice(2, 4));
    expect((await talk.get("/checkpoints/nothing")).body).toMatchObject({ code: "checkpoint_not_found" });
    expect((await talk.get("/checkpoints?before=nothing")).status).toBe(404);
  });

  it("are compared by their files, with each other and with what is there now", async () => {
    const talk = await startTalk();
    await talk.say(make("a.txt", "one"));
    await talk.say(make("b.txt", "two"));
    const [head, ...rest] = await talk.checkpoints();
    const first = rest.at(-1);
    writeFileSync(join(talk.session.workspace_path ?? "", "a.txt"), "edited");
    expect((await talk.get(`/checkpoints/${first?.id}/diff?to=${head?.id}`)).body).toMatchObject({
      from: first?.id,
      to: head?.id,
      files: [
        { path: "a.txt", change: "added", diff: expect.stringContaining("+one") },
        { path: "b.txt", change: "added" },
      ],
    });
    expect((await talk.get(`/checkpoints/${head?.id}/diff`)).body).toMatchObject({
      to: null,
      files: [{ path: "a.txt", change: "modified", diff: expect.stringContaining("-one") }],
    });
  });
});

it("a deleted session takes the note of where its folder stood along", async () => {
  const talk = await startTalk();
  const notes = join(talk.on.root, ".cognition/workspaces");
  await talk.say(make("a.txt", "one"));
  expect(readdirSync(notes)).toHaveLength(1);
  expect((await talk.on.ask(`/sessions/${talk.session.id}`, { method: "DELETE" })).status).toBe(204);
  expect(readdirSync(notes)).toEqual([]);
});

describe("rewind", () => {
  it("undoes the last tool action and tries it again", async () => {
    const talk = await startTalk();
    await talk.say(make("a.txt", "one"));
    await talk.say(make("b.txt", "two"));
    const { files, previous_head } = await talk.rewind({ last: "tool" });
    expect(files).toMatchObject([{ path: "b.txt", change: "deleted" }]);
    expect([talk.file("a.txt"), talk.file("b.txt")]).toEqual(["one", undefined]);
    expect(await talk.roles()).toEqual(["user", "assistant", "tool", "assistant", "user", "assistant"]);
    const { status } = await talk.post("/resume", {});
    expect(status).toBe(200);
    expect(talk.file("b.txt")).toBe("two");
    expect((await talk.roles()).slice(4)).toEqual(["user", "assistant", "tool", "assistant"]);
    await talk.rewind({ checkpoint_id: previous_head });
    await talk.say("Hello");
    expect(talk.on.faults).toEqual([]);
  });

  it("to where everything was done leaves nothing to resume, though the run that is undone was stopped", async () => {
    const talk = await startTalk();
    await talk.say("Hello");
    const headers = { Prefer: "respond-async" };
    const json = { content: "Run the command: sleep 30" };
    await talk.on.ask(`/sessions/${talk.session.id}/messages`, { method: "POST", json, headers });
    await expect.poll(() => talk.roles(), { timeout: 10_000 }).toHaveLength(4);
    await talk.post("/abort", {});
    await expect.poll(async () => (await talk.get<Session>("")).body.active_run_id).toBeNull();
    const { previous_head } = await talk.rewind({ last: "turn" });
    expect((await talk.post("/resume", {})).body).toMatchObject({ status: 409, code: "nothing_to_resume" });
    await talk.rewind({ checkpoint_id: previous_head });
    expect(await talk.post("/resume", {})).toMatchObject({ status: 200, body: { status: "succeeded" } });
    expect(await talk.roles()).toHaveLength(6);
  });

  it("undoes a turn, shell edits included, and redoes it; what was undone stays readable", async () => {
    const talk = await startTalk();
    await talk.say(make("a.txt", "one"));
    await talk.say("Run the command: cp a.txt made-by-shell.txt");
    const head = (await talk.checkpoints())[0]?.id ?? "";
    const dry = await talk.rewind({ last: "turn", dry_run: true });
    expect(dry).toMatchObject({ previous_head: head, files: [{ path: "made-by-shell.txt", change: "deleted" }] });
    expect(talk.file("made-by-shell.txt")).toBe("one");
    const moved = await talk.rewind({ last: "turn" });
    expect(moved.previous_head).toBe(head);
    expect(talk.file("made-by-shell.txt")).toBeUndefined();
    expect(await talk.texts()).toEqual([make("a.txt", "one")]);
    expect(await talk.roles(`&checkpoint_id=${head}`)).toHaveLength(8);
    await talk.rewind({ checkpoint_id: moved.previous_head });
    expect(talk.file("made-by-shell.txt")).toBe("one");
    expect(await talk.roles()).toHaveLength(8);
    await talk.rewind({ last: "turn" });
    await talk.rewind({ last: "turn" });
    expect(talk.file("a.txt")).toBeUndefined();
    expect(await talk.texts()).toEqual([]);
    expect((await talk.post("/rewind", { last: "turn" })).body).toMatchObject({
      code: "nothing_to_rewind",
      status: 409,
    });
    await talk.say("Hello");
    expect(await talk.texts()).toEqual(["Hello"]);
    const { body } = await talk.post("/messages/rebuild", {});
    expect(body).toMatchObject({ repaired: 0, added: 0, removed: 0 });
  });

  it("that a crash cut off before its files were there is finished before anybody sees them", async () => {
    const talk = await startTalk();
    await talk.say(make("a.txt", "one"));
    const before = (await talk.checkpoints())[0];
    await talk.say("Run the command: rm a.txt");
    const [head] = await talk.checkpoints();
    await talk.on.storage.timeline.rewindSession({
      session_id: talk.session.id,
      checkpoint_id: before?.id ?? "",
      expected_head: head?.id ?? "",
      conversation: true,
      snapshot_id: before?.snapshot_id ?? "",
    });
    expect(talk.file("a.txt")).toBeUndefined();
    expect((await talk.get<{ files: { path: string }[] }>("/files")).body.files).toMatchObject([{ path: "a.txt" }]);
    expect(talk.file("a.txt")).toBe("one");
  });

  it("takes the conversation or the files alone", async () => {
    const talk = await startTalk();
    await talk.say(make("a.txt", "one"));
    await talk.say(make("b.txt", "two"));
    await talk.rewind({ last: "turn", restore: ["conversation"] });
    expect([await talk.texts(), talk.file("b.txt")]).toEqual([[make("a.txt", "one")], "two"]);
    const first = (await talk.checkpoints()).at(-1)?.id;
    await talk.rewind({ checkpoint_id: first, restore: ["files"] });
    expect([await talk.texts(), talk.file("a.txt"), talk.file("b.txt")]).toEqual([
      [make("a.txt", "one")],
      undefined,
      undefined,
    ]);
    await talk.say("Hello");
    expect(talk.file("a.txt")).toBeUndefined();
  });

  it("is refused with the list of files that others have changed, unless forced", async () => {
    const talk = await startTalk();
    await talk.say(make("a.txt", "one"));
    const file = join(talk.session.workspace_path ?? "", "a.txt");
    writeFileSync(file, "a person's");
    const refused = await talk.post("/rewind", { last: "turn" });
    expect(refused).toMatchObject({ status: 409, body: { code: "file_conflict", details: { files: ["a.txt"] } } });
    expect([talk.file("a.txt"), await talk.texts()]).toEqual(["a person's", [make("a.txt", "one")]]);
    await talk.rewind({ last: "turn", force: true });
    expect(talk.file("a.txt")).toBeUndefined();
  });

  it("that is forced happens whatever is in its way, and keeps beside it what no snapshot holds", async () => {
    const talk = await startTalk();
    const folder = talk.session.workspace_path ?? "";
    await talk.say("Run the command: touch build");
    await talk.say(make("deep/a.txt", "one"));
    const [, , , last] = (await talk.get<{ messages: { id: string }[] }>("/messages?order=asc")).body.messages;
    await talk.say("Run the command: rm build");
    await talk.say("Run the command: mkdir -p build/node_modules deep/b");
    await talk.say("Run the command: touch build/y build/node_modules/z deep/b/c");
    const [head] = await talk.checkpoints();
    expect((await talk.post("/rewind", { message_id: last?.id })).body).toMatchObject({ code: "file_conflict" });
    await talk.rewind({ message_id: last?.id, force: true });
    expect(talk.file("build")).toBe("");
    const aside = readdirSync(folder).find((name) => name.startsWith("build.local-")) ?? "";
    expect(readdirSync(join(folder, aside))).toEqual(["node_modules"]);
    writeFileSync(join(folder, "deep"), "a person's");
    await talk.rewind({ checkpoint_id: head?.id, force: true });
    expect([talk.file("deep/a.txt"), talk.file("deep/b/c")]).toEqual(["one", ""]);
    expect(readdirSync(folder).filter((name) => name.startsWith("deep.local-"))).toHaveLength(1);
    rmSync(join(folder, "deep"), { recursive: true });
    await talk.rewind({ message_id: last?.id, force: true });
    await talk.rewind({ checkpoint_id: head?.id, force: true });
    expect([talk.file("deep/a.txt"), talk.file("deep/b/c")]).toEqual(["one", ""]);
  });

  it("is refused while a run is active", async () => {
    const talk = await startTalk();
    await talk.say(make("a.txt", "one"));
    const sent = await talk.on.ask(`/sessions/${talk.session.id}/messages`, {
      method: "POST",
      json: { content: "Run the command: sleep 30" },
      headers: { Prefer: "respond-async" },
    });
    expect(sent.status).toBe(202);
    expect((await talk.post("/rewind", { last: "turn" })).body).toMatchObject({ code: "session_busy", status: 409 });
    await talk.post("/abort", {});
  });

  it("brings back a folder that was lost", async () => {
    const talk = await startTalk();
    await talk.say(make("a.txt", "one"));
    await talk.say(make("b.txt", "two"));
    rmSync(talk.session.workspace_path ?? "", { recursive: true });
    await talk.rewind({ last: "turn", force: true });
    await talk.say("List the files in this directory.");
    expect([talk.file("a.txt"), talk.file("b.txt")]).toEqual(["one", undefined]);
  });
});

describe("what people did between two messages", () => {
  it("stays when the second is undone, and comes back if its turn took it away", async () => {
    const talk = await startTalk();
    const file = (name: string) => join(talk.session.workspace_path ?? "", name);
    await talk.say(make("a.txt", "one"));
    writeFileSync(file("a.txt"), "edited");
    writeFileSync(file("data.csv"), "a person's");
    await talk.say("Run the command: rm data.csv");
    expect(await talk.rewind({ last: "turn" })).toMatchObject({ files: [{ path: "data.csv", change: "added" }] });
    expect([talk.file("a.txt"), talk.file("data.csv")]).toEqual(["edited", "a person's"]);
    await talk.say("Hello");
    expect(await talk.rewind({ last: "turn" })).toMatchObject({ files: [] });
    expect([talk.file("a.txt"), talk.file("data.csv")]).toEqual(["edited", "a person's"]);
    await talk.say("Hello");
    const messages = (await talk.get<{ messages: { id: string }[] }>("/messages?order=asc")).body.messages;
    expect(await talk.rewind({ message_id: messages.at(-3)?.id })).toMatchObject({ files: [] });
    expect(await talk.texts()).toEqual([make("a.txt", "one")]);
  });
});

describe("artifacts", () => {
  it("that were made between two messages stay when the second is undone; alone, they go back and forth", async () => {
    const talk = await startTalk();
    const { id: session_id } = talk.session;
    const on = async (method: string, path: string, json?: unknown) => {
      const response = await talk.on.ask(`/artifacts${path}`, { method, json });
      return (await response.json()) as { id: string; content?: string };
    };
    await talk.say("Hello");
    const doc = { session_id, name: "doc", artifact_type: "artifact", content: "1" };
    const { id } = await on("POST", "", doc);
    const here = `/${id}?session_id=${session_id}`;
    const content = async () => (await on("GET", here)).content;
    await talk.say("Hello again");
    await on("PUT", here, { content: "2" });
    await talk.rewind({ last: "turn", restore: ["conversation", "artifacts"] });
    expect(await content()).toBe("1");
    await on("PUT", here, { content: "3" });
    const first = (await talk.checkpoints()).at(-1)?.id;
    const { previous_head } = await talk.rewind({ checkpoint_id: first, restore: ["artifacts"] });
    expect(await content()).toBeUndefined();
    await talk.rewind({ checkpoint_id: previous_head, restore: ["artifacts"] });
    expect(await content()).toBe("3");
    expect(await talk.texts()).toEqual(["Hello"]);
  });
});

describe("a message that was aborted before its turn", () => {
  const sendLater = async (talk: Talk, content: string) => {
    const headers = { Prefer: "respond-async" };
    const sent = await talk.on.ask(`/sessions/${talk.session.id}/messages`, {
      method: "POST",
      json: { content },
      headers,
    });
    return (await sent.json()) as { run_id: string; message_id: string };
  };

  it("is no turn to undo, and no place to go to", async () => {
    const talk = await startTalk();
    await talk.say(make("a.txt", "one"));
    await sendLater(talk, "Run the command: sleep 30");
    const never = await sendLater(talk, "Hello");
    await talk.post("/abort", { run_id: never.run_id });
    await talk.post("/abort", {});
    await expect.poll(async () => (await talk.get<Session>("")).body.active_run_id).toBeNull();
    const messages = (await talk.get<{ messages: { id: string; content: string }[] }>("/messages")).body.messages;
    const message_id = messages.find(({ content }) => content === "Hello")?.id;
    for (const path of ["/rewind", "/fork"])
      expect((await talk.post(path, { message_id })).body).toMatchObject({ code: "checkpoint_not_found", status: 404 });
    await talk.rewind({ last: "turn" });
    await talk.rewind({ last: "turn" });
    expect(talk.file("a.txt")).toBeUndefined();
    expect((await talk.post("/rewind", { last: "turn" })).body).toMatchObject({ code: "nothing_to_rewind" });
    expect((await talk.post("/rewind", { last: "tool" })).body).toMatchObject({ code: "nothing_to_rewind" });
  });
});

describe("what people put between two runs", () => {
  const put = (talk: Talk, path: string, body: string) =>
    talk.on.ask(`/sessions/${talk.session.id}/files/${path}`, { method: "PUT", body });

  it("stays when the turn before it is undone, and when it is done again", async () => {
    const talk = await startTalk();
    await talk.say(make("a.txt", "one"));
    await talk.say(make("b.txt", "two"));
    expect((await put(talk, "mine.txt", "mine")).status).toBe(204);
    const { previous_head, files } = await talk.rewind({ last: "turn" });
    expect(files).toMatchObject([{ path: "b.txt", change: "deleted" }]);
    expect(["a.txt", "b.txt", "mine.txt"].map(talk.file)).toEqual(["one", undefined, "mine"]);
    await talk.rewind({ checkpoint_id: previous_head });
    expect(["a.txt", "b.txt", "mine.txt"].map(talk.file)).toEqual(["one", "two", "mine"]);
    await talk.say(make("c.txt", "three"));
    await talk.rewind({ last: "turn" });
    expect(["b.txt", "c.txt", "mine.txt"].map(talk.file)).toEqual(["two", undefined, "mine"]);
    expect(talk.on.faults).toEqual([]);
  });

  it("stays when there was nothing before; what an aborted tool has left goes with its turn", async () => {
    const talk = await startTalk();
    await talk.say("Hello");
    await put(talk, "mine.txt", "mine");
    expect((await talk.rewind({ last: "turn" })).files).toEqual([]);
    const run = talk.post("/messages", { content: "Run the command: sh -c 'echo hi > left.txt; sleep 30'" });
    await expect.poll(() => talk.file("left.txt")).toBeDefined();
    await talk.post("/abort", {});
    await run;
    await expect.poll(async () => (await talk.get<Session>("")).body.active_run_id).toBeNull();
    await talk.rewind({ last: "turn" });
    expect(["left.txt", "mine.txt"].map(talk.file)).toEqual([undefined, "mine"]);
  });

  it("and the undoing would change is a conflict, which only force overwrites", async () => {
    const talk = await startTalk();
    await talk.say(make("a.txt", "one"));
    await put(talk, "a.txt", "mine");
    await put(talk, "folder/b.txt", "mine too");
    expect((await talk.post("/rewind", { last: "turn" })).body).toMatchObject({
      code: "file_conflict",
      details: { files: ["a.txt"] },
    });
    expect(talk.file("a.txt")).toBe("mine");
    await talk.rewind({ last: "turn", force: true });
    expect(["a.txt", "folder/b.txt"].map(talk.file)).toEqual([undefined, "mine too"]);
  });
});

describe("fork", () => {
  it("starts a session there with its files; both live on, and the child survives", async () => {
    const talk = await startTalk();
    await talk.say(make("a.txt", "one"));
    const asked = (await talk.get<{ messages: { id: string }[] }>("/messages?order=asc")).body.messages;
    await talk.say(make("b.txt", "two"));
    const { status, body } = await talk.post<Session>("/fork", { message_id: asked[3]?.id, title: "another way" });
    expect([status, body.title, body.parent?.session_id]).toEqual([201, "another way", talk.session.id]);
    const fork = talkTo(talk.on, body);
    expect([fork.file("a.txt"), fork.file("b.txt")]).toEqual(["one", undefined]);
    await fork.say(make("c.txt", "three"));
    expect([talk.file("c.txt"), fork.file("c.txt")]).toEqual([undefined, "three"]);
    expect(await fork.texts()).toEqual([make("a.txt", "one"), make("c.txt", "three")]);
    const again = talkTo(talk.on, (await fork.post<Session>("/fork", {})).body);
    await talk.on.ask(`/sessions/${talk.session.id}`, { method: "DELETE" });
    await again.say(make("d.txt", "four"));
    expect(["a.txt", "c.txt", "d.txt"].map(again.file)).toEqual(["one", "three", "four"]);
    await again.rewind({ last: "turn" });
    expect([again.file("a.txt"), again.file("d.txt")]).toEqual(["one", undefined]);
    expect(talk.on.faults).toEqual([]);
  });

  it("goes back to what came before it, files and all, and leaves the other session as it is", async () => {
    const talk = await startTalk();
    await talk.say(make("a.txt", "one"));
    await talk.say(make("b.txt", "two"));
    const fork = talkTo(talk.on, (await talk.post<Session>("/fork", {})).body);
    await fork.say(make("c.txt", "three"));
    const files = (of: typeof talk) => ["a.txt", "b.txt", "c.txt"].filter((name) => of.file(name) !== undefined);
    await fork.rewind({ last: "turn" });
    await fork.rewind({ last: "turn" });
    expect([files(fork), await fork.texts()]).toEqual([["a.txt"], [make("a.txt", "one")]]);
    const { previous_head } = await fork.rewind({ last: "turn" });
    expect([files(fork), await fork.texts()]).toEqual([[], []]);
    await fork.rewind({ checkpoint_id: previous_head ?? "" });
    const { messages } = (await talk.get<{ messages: { id: string }[] }>("/messages?order=asc")).body;
    await fork.rewind({ message_id: messages.at(-1)?.id ?? "" });
    expect(files(fork)).toEqual(["a.txt", "b.txt"]);
    const again = talkTo(talk.on, (await fork.post<Session>("/fork", { message_id: messages[3]?.id })).body);
    expect([files(again), await again.texts()]).toEqual([["a.txt"], [make("a.txt", "one")]]);
    await fork.rewind({ last: "tool" });
    expect(files(fork)).toEqual(["a.txt"]);
    expect(await fork.post("/resume", {})).toMatchObject({ status: 200, body: { status: "succeeded" } });
    expect(files(fork)).toEqual(["a.txt", "b.txt"]);
    expect([files(talk), await talk.texts()]).toEqual([
      ["a.txt", "b.txt"],
      [make("a.txt", "one"), make("b.txt", "two")],
    ]);
    expect(talk.on.faults).toEqual([]);
  });

  it("that stands in the middle of a run is gone on with before it had one of its own", async () => {
    const talk = await startTalk();
    await talk.say(make("a.txt", "one"));
    const fork = talkTo(talk.on, (await talk.post<Session>("/fork", {})).body);
    expect((await fork.post("/resume", {})).body).toMatchObject({ status: 409, code: "nothing_to_resume" });
    await fork.rewind({ last: "tool" });
    expect(fork.file("a.txt")).toBeUndefined();
    expect(await fork.post("/resume", {})).toMatchObject({ status: 200, body: { status: "succeeded" } });
    expect([fork.file("a.txt"), await fork.texts(), await fork.roles()]).toEqual([
      "one",
      [make("a.txt", "one")],
      ["user", "assistant", "tool", "assistant"],
    ]);
    expect(talk.on.faults).toEqual([]);
  });

  it("says that what came before it is gone with the session it came from", async () => {
    const talk = await startTalk();
    await talk.say("My name is Ann");
    await talk.say(make("a.txt", "one"));
    const fork = talkTo(talk.on, (await talk.post<Session>("/fork", {})).body);
    const { messages } = (await fork.get<{ messages: { id: string }[] }>("/messages?order=asc")).body;
    await talk.on.ask(`/sessions/${talk.session.id}`, { method: "DELETE" });
    const before = [{ last: "turn" }, { last: "tool" }, { message_id: messages[0]?.id }];
    const answers = [...before.map((place) => fork.post("/rewind", place)), fork.post("/fork", before[2])];
    for (const { body } of await Promise.all(answers)) {
      const detail = expect.stringMatching(
        /^The point (before|after) message .* of session .* is gone: .* forked from/,
      );
      expect(body).toMatchObject({ status: 404, code: "checkpoint_not_found", detail });
    }
    expect([fork.file("a.txt"), talk.on.faults]).toEqual(["one", []]);
  });

  it("of now has the files as they are now; of a checkpoint, as they were then", async () => {
    const talk = await startTalk();
    await talk.say(make("a.txt", "one"));
    const folder = talk.session.workspace_path ?? "";
    writeFileSync(join(folder, "a.txt"), "edited");
    writeFileSync(join(folder, "brought.txt"), "by hand");
    const now = talkTo(talk.on, (await talk.post<Session>("/fork", {})).body);
    expect([now.file("a.txt"), now.file("brought.txt")]).toEqual(["edited", "by hand"]);
    const { id: checkpoint_id } = (await talk.checkpoints())[0] as Checkpoint;
    const then = talkTo(talk.on, (await talk.post<Session>("/fork", { checkpoint_id })).body);
    expect([then.file("a.txt"), then.file("brought.txt")]).toEqual(["one", undefined]);
    await now.say(make("c.txt", "three"));
    expect((await now.rewind({ last: "turn" })).files).toMatchObject([{ path: "c.txt", change: "deleted" }]);
    expect([now.file("a.txt"), now.file("brought.txt")]).toEqual(["edited", "by hand"]);
    expect([talk.file("a.txt"), talk.on.faults]).toEqual(["edited", []]);
  });

  it("without files begins with an empty folder; an unknown agent is refused", async () => {
    const talk = await startTalk();
    await talk.say(make("a.txt", "one"));
    const bare = talkTo(talk.on, (await talk.post<Session>("/fork", { files: false })).body);
    await bare.say("Hello");
    expect(bare.file("a.txt")).toBeUndefined();
    expect((await talk.post("/fork", { agent_name: "nobody" })).body).toMatchObject({
      code: "unknown_agent",
      status: 422,
    });
  });

  it("without files has those of before it where it goes back to, and none where it began", async () => {
    const talk = await startTalk();
    await talk.say(make("a.txt", "one"));
    await talk.say(make("b.txt", "two"));
    const bare = talkTo(talk.on, (await talk.post<Session>("/fork", { files: false })).body);
    const files = () => ["a.txt", "b.txt", "c.txt"].filter((name) => bare.file(name) !== undefined);
    const { previous_head } = await bare.rewind({ last: "turn" });
    expect(files()).toEqual(["a.txt"]);
    await bare.rewind({ checkpoint_id: previous_head ?? "" });
    expect(files()).toEqual([]);
    await bare.say(make("c.txt", "three"));
    await bare.rewind({ checkpoint_id: previous_head ?? "" });
    expect([files(), talk.on.faults]).toEqual([[], []]);
  });
});

describe("edit and regenerate", () => {
  it("a message that answers an earlier one branches there, and the tree can be followed by parent_id", async () => {
    const talk = await startTalk();
    await talk.say("My name is Ann");
    const [, greeting] = (await talk.get<{ messages: { id: string }[] }>("/messages?order=asc")).body.messages;
    await talk.say("Hello once more");
    const head = (await talk.checkpoints())[0]?.id;
    await talk.say("Hello instead", { parent_id: greeting?.id });
    expect(await talk.texts()).toEqual(["My name is Ann", "Hello instead"]);
    const { events } = await talk.on.storage.readEvents({ session_id: talk.session.id, types: ["head_moved"] });
    expect(events).toMatchObject([{ run_id: expect.any(String), data: { previous_head: head } }]);
    const { messages } = (await talk.get<{ messages: { id: string; parent_id: string }[] }>("/messages?order=asc"))
      .body;
    expect(messages[2]?.parent_id).toBe(greeting?.id);
    expect(messages.map(({ parent_id }) => parent_id)).toEqual([null, ...messages.slice(0, -1).map(({ id }) => id)]);
    expect(await talk.roles(`&checkpoint_id=${head}`)).toHaveLength(4);
    expect((await talk.post("/messages/rebuild", {})).body).toMatchObject({ repaired: 0, added: 0, removed: 0 });
    await talk.say("And on");
    expect(await talk.texts()).toEqual(["My name is Ann", "Hello instead", "And on"]);
    const [, , , answer, on] = (await talk.get<{ messages: Message[] }>("/messages?order=asc")).body.messages;
    expect(on).toMatchObject({ content: "And on", parent_id: answer?.id });
  });

  it("one in a fork branches where the session was that it comes from", async () => {
    const talk = await startTalk();
    await talk.say("My name is Ann");
    const [, greeting] = (await talk.get<{ messages: { id: string }[] }>("/messages?order=asc")).body.messages;
    await talk.say("Hello once more");
    const fork = talkTo(talk.on, (await talk.post<Session>("/fork", {})).body);
    await fork.say("Hello instead", { parent_id: greeting?.id });
    expect(await fork.texts()).toEqual(["My name is Ann", "Hello instead"]);
    expect(await talk.texts()).toEqual(["My name is Ann", "Hello once more"]);
  });

  it("one that answers what is no place to branch at is refused, and nothing is said", async () => {
    const talk = await startTalk();
    await talk.say("My name is Ann");
    const [, greeting] = (await talk.get<{ messages: { id: string }[] }>("/messages?order=asc")).body.messages;
    await talk.say("Hello once more");
    const fork = talkTo(talk.on, (await talk.post<Session>("/fork", {})).body);
    await talk.on.ask(`/sessions/${talk.session.id}`, { method: "DELETE" });
    const refused = await fork.post("/messages", { content: "Goodbye", parent_id: greeting?.id });
    expect(refused).toMatchObject({ status: 422, body: { code: "validation_failed" } });
    expect(await fork.texts()).toEqual(["My name is Ann", "Hello once more"]);
  });

  it("one whose place is pruned before its turn comes is not said at the end instead", async () => {
    const talk = await startTalk();
    const { storage } = talk.on;
    await talk.say("My name is Ann");
    const [, greeting] = (await talk.get<{ messages: { id: string }[] }>("/messages?order=asc")).body.messages;
    await talk.say("Hello once more");
    const later = (content: string, parent_id?: string) =>
      talk.on.ask(`/sessions/${talk.session.id}/messages`, {
        method: "POST",
        json: { content, parent_id },
        headers: { Prefer: "respond-async" },
      });
    await later("Run the command: sleep 1");
    expect((await later("Goodbye", greeting?.id)).status).toBe(202);
    await (await storage.getCheckpointer()).prune({ thread_id: talk.session.thread_id, keep_last: 1 });
    await expect.poll(async () => (await talk.get<Session>("")).body.active_run_id, { timeout: 20_000 }).toBeNull();
    const [last] = await storage.listRuns(talk.session.id, { limit: 1 });
    expect(last).toMatchObject({ status: "failed", error: { code: "checkpoint_not_found" } });
    const [head] = await talk.checkpoints();
    const { body } = await talk.get<CheckpointState>(`/checkpoints/${head?.id}`);
    expect(body.messages.map(({ content }) => content)).not.toContain("Goodbye");
  });

  it("one that answers a message which is still to be heard waits for it", async () => {
    const talk = await startTalk();
    const later = async (content: string, parent_id?: string) => {
      const init = { method: "POST", json: { content, parent_id }, headers: { Prefer: "respond-async" } };
      return (await talk.on.ask(`/sessions/${talk.session.id}/messages`, init)).status;
    };
    await later("Run the command: sleep 1");
    await later("My name is Ann");
    const messages = (await talk.get<{ messages: { id: string; content: string }[] }>("/messages")).body.messages;
    const queued = messages.find(({ content }) => content === "My name is Ann");
    expect(await later("Hello", queued?.id)).toBe(202);
    await expect.poll(async () => (await talk.get<Session>("")).body.active_run_id, { timeout: 20_000 }).toBeNull();
    expect((await talk.texts()).slice(-2)).toEqual(["My name is Ann", "Hello"]);
  });
});

describe("scopes", () => {
  it("another's session is not found, by any of the routes", async () => {
    const scoping = { enabled: true, keys: ["user"] };
    const talk = await startTalk();
    expect(talk.on.faults).toEqual([]);
    const { startTestServer } = await import("../http/test-server.ts");
    const on = await startTestServer({ scoping });
    const ann = { "X-Cognition-Scope-User": "ann" };
    const bob = { "X-Cognition-Scope-User": "bob" };
    const session = await on.createSession({}, ann);
    const ask = (path: string, json?: unknown) =>
      on.ask(`/sessions/${session.id}${path}`, {
        headers: bob,
        ...(json === undefined ? {} : { method: "POST", json }),
      });
    for (const path of ["/checkpoints", "/checkpoints/x", "/checkpoints/x/diff"])
      expect((await ask(path)).status).toBe(404);
    expect((await ask("/fork", {})).status).toBe(404);
    expect((await ask("/rewind", { last: "turn" })).status).toBe(404);
  });
});
