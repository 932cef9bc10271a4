import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Session, StoredEvent } from "@cognition/contract";
import { openStorage, type Storage } from "@cognition/thread";
import { afterEach, describe, expect, it } from "vitest";
import { createTempDir } from "../../../../testing/temp-dir.ts";
import { compose, type Runtime } from "../../src/compose.ts";

interface Started {
  storage: Storage;
  runtime: Runtime;
  session: Session;
  folder: string;
  errors: unknown[];
}

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

async function start(agent_name = "default", agents: Record<string, string> = {}): Promise<Started> {
  const dir = createTempDir();
  mkdirSync(join(dir.path, ".cognition/agents"), { recursive: true });
  for (const [file, text] of Object.entries(agents)) writeFileSync(join(dir.path, ".cognition/agents", file), text);
  const storage = await openStorage("memory");
  const errors: unknown[] = [];
  const runtime = await compose({
    storage,
    workspace_root: dir.path,
    env: { PATH: process.env["PATH"] },
    engine: { poll_ms: 20 },
    onError: (error) => errors.push(error),
  });
  runtime.engine.start();
  cleanups.push(
    () => dir.remove(),
    () => storage.close(),
    () => runtime.close(0),
  );
  const session = await storage.createSession({ agent_name, workspace_path: "work" });
  return { storage, runtime, session, folder: join(dir.path, "work"), errors };
}

async function send({ runtime, session }: Started, content: string): Promise<string> {
  const message_id = crypto.randomUUID();
  const { run } = await runtime.engine.submit({
    session_id: session.id,
    message: { id: message_id, role: "user", content },
    input: { kind: "message", message_id, content },
  });
  return run.id;
}

/** Sends a message and gives the events of its run. */
async function say(started: Started, content: string): Promise<StoredEvent[]> {
  const after = await started.storage.lastEventId(started.session.id);
  return eventsOf(started, await send(started, content), after);
}

async function eventsOf({ storage, session }: Started, run_id: string, after: number): Promise<StoredEvent[]> {
  const events: StoredEvent[] = [];
  for await (const event of storage.followEvents({
    session_id: session.id,
    after,
    signal: AbortSignal.timeout(50_000),
  })) {
    if (event.run_id === run_id) events.push(event);
    if (event.event === "done" || event.event === "interrupt") return events;
  }
  throw new Error(`the run did not end: ${events.map(({ event }) => event).join(" ")}`);
}

function dataOf(events: readonly StoredEvent[], type: StoredEvent["event"]): Record<string, unknown>[] {
  return events.filter(({ event }) => event === type).map(({ data }) => data as Record<string, unknown>);
}

describe("the default agent with the offline model", () => {
  it("answers, word by word, and the message is what the tokens said", async () => {
    const started = await start();
    const events = await say(started, "Hello, who are you?");
    expect(dataOf(events, "done")).toMatchObject([{ status: "succeeded" }]);
    const tokens = dataOf(events, "token").map(({ content }) => content);
    expect(tokens.length).toBeGreaterThan(3);
    const messages = await started.storage.listMessagesForSession(started.session.id);
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
    expect(messages[1]?.content).toBe(tokens.join(""));
    expect(started.errors).toEqual([]);
  });

  it("creates a file in its workspace, and says so with the whole arguments", async () => {
    const started = await start();
    const events = await say(started, "Create a file named notes.txt containing exactly the word hello");
    expect(readFileSync(join(started.folder, "notes.txt"), "utf8")).toBe("hello");
    expect(dataOf(events, "tool_call")).toMatchObject([{ name: "write_file", args: { content: "hello" } }]);
    expect(dataOf(events, "tool_result")).toMatchObject([{ outcome: "ok" }]);
  });

  it("adds to a file, made first if need be, and keeps what is there", async () => {
    const started = await start();
    const notes = () => readFileSync(join(started.folder, "notes.txt"), "utf8");
    await say(started, "Add the line 'hello' to notes.txt");
    expect(notes()).toBe("hello");
    await say(started, 'put a line saying "bye" at the end of notes.txt');
    expect(notes()).toBe("hello\nbye");
    await say(started, "rename notes.txt to other.txt");
    expect(readFileSync(join(started.folder, "other.txt"), "utf8")).toBe("hello\nbye");
    const found = await say(started, "search for bye in other.txt");
    expect(JSON.stringify(dataOf(found, "tool_result"))).toContain("other.txt");
  });

  it("lists files and runs a command, with its true exit code", async () => {
    const started = await start();
    await say(started, "Create a file named a.txt containing exactly the word x");
    const listed = await say(started, "List the files in this directory.");
    expect(JSON.stringify(dataOf(listed, "tool_result"))).toContain("a.txt");
    const ran = await say(started, "Run the command: ls no-such-file");
    expect(dataOf(ran, "tool_result")).toMatchObject([{ exit_code: 2 }]);
    const { total } = await started.storage.getMessagesBySession(started.session.id, { limit: 1 });
    expect(total).toBe(12);
  });

  it("tells a tool that did nothing from one that worked, though both only answer with a text", async () => {
    const started = await start();
    const outcomes = async (content: string) =>
      dataOf(await say(started, content), "tool_result").map(({ outcome, exit_code }) => [outcome, exit_code]);
    expect(await outcomes("Read the file nope.txt")).toEqual([["error", null]]);
    expect(await outcomes("Edit the file nope.txt: replace a with b")).toEqual([["error", null]]);
    expect(await outcomes("List the files in nodir")).toEqual([["error", null]]);
    expect(await outcomes("Run the command: cat < nope.txt")).toEqual([["error", null]]);
    expect(await outcomes("Run the command: false")).toEqual([["ok", 1]]);
    expect(await outcomes("Create a file named a.txt containing exactly the word a")).toEqual([["ok", null]]);
    expect(await outcomes("Read the file a.txt")).toEqual([["ok", null]]);
  });

  it("plans with a todo list and works it off", async () => {
    const started = await start();
    const events = await say(started, "Make a todo list with three steps and work it off");
    expect(dataOf(events, "planning").length).toBeGreaterThan(1);
    expect(dataOf(events, "step_complete")).toHaveLength(3);
    expect(dataOf(events, "done")).toMatchObject([{ status: "succeeded" }]);
  });

  it("keeps to its tools when it is the readonly one", async () => {
    const started = await start("readonly");
    const events = await say(started, "Create a file named notes.txt containing exactly the word hello");
    expect(dataOf(events, "done")).toMatchObject([{ status: "succeeded" }]);
    expect(existsSync(join(started.folder, "notes.txt"))).toBe(false);
    writeFileSync(join(started.folder, "b.txt"), "TODO");
    expect(JSON.stringify(dataOf(await say(started, "Read the file b.txt"), "tool_result"))).toContain("TODO");
  });
});

describe("the workspace", () => {
  it("is never outside of the root, whatever path a session names", async () => {
    for (const workspace_path of ["..", "../elsewhere", "/etc"]) {
      const started = await start();
      const session = await started.storage.createSession({ workspace_path });
      const events = await say({ ...started, session }, "List the files in this directory.");
      expect(dataOf(events, "error")).toMatchObject([{ code: "workspace_path_refused" }]);
      expect(dataOf(events, "tool_call")).toEqual([]);
    }
  });
});

describe("memory files", () => {
  it("AGENTS.md of the workspace is part of the prompt, from the next message on", async () => {
    const started = await start();
    await say(started, "Hello");
    writeFileSync(join(started.folder, "..", "AGENTS.md"), "Start every reply with AHOY.");
    const events = await say(started, "Hello");
    expect(JSON.stringify(dataOf(events, "done")[0]?.["assistant_data"])).toContain("AHOY");
  });
});

const CAREFUL = `---
name: careful
description: Asks before it runs anything.
interrupt_on:
  execute: true
---
You are careful.
`;

describe("approvals", () => {
  async function ask(started: Started) {
    const events = await say(started, "Run the command: touch made.txt");
    const [interrupt] = (dataOf(events, "interrupt")[0]?.["interrupts"] ?? []) as { id: string; tool_name: string }[];
    expect(interrupt).toMatchObject({ tool_name: "execute", args: { command: "touch made.txt" } });
    expect(await started.storage.getSession(started.session.id)).toMatchObject({ status: "waiting_for_approval" });
    expect(existsSync(join(started.folder, "made.txt"))).toBe(false);
    return { id: interrupt?.id ?? "", run_id: events[0]?.run_id ?? "" };
  }

  async function answer(started: Started, decision: object): Promise<StoredEvent[]> {
    const { id, run_id } = await ask(started);
    const after = await started.storage.lastEventId(started.session.id);
    await started.runtime.engine.answer(run_id, { kind: "answers", answers: { [id]: { id, ...decision } } });
    return eventsOf(started, run_id, after);
  }

  it("an approved call runs, once", async () => {
    const started = await start("careful", { "careful.md": CAREFUL });
    const events = await answer(started, { type: "approve" });
    expect(dataOf(events, "done")).toMatchObject([{ status: "succeeded" }]);
    expect(dataOf(events, "tool_result")).toMatchObject([{ outcome: "ok", exit_code: 0 }]);
    expect(existsSync(join(started.folder, "made.txt"))).toBe(true);
  });

  it("an edited call runs as edited", async () => {
    const started = await start("careful", { "careful.md": CAREFUL });
    await answer(started, { type: "edit", args: { command: "touch other.txt" } });
    expect(existsSync(join(started.folder, "other.txt"))).toBe(true);
    expect(existsSync(join(started.folder, "made.txt"))).toBe(false);
  });

  it("a rejected call never runs, the model is told, and the thread goes on", async () => {
    const started = await start("careful", { "careful.md": CAREFUL });
    const events = await answer(started, { type: "reject", message: "Not on my machine." });
    expect(dataOf(events, "tool_result")).toMatchObject([{ outcome: "denied", output: "Not on my machine." }]);
    expect(existsSync(join(started.folder, "made.txt"))).toBe(false);
    expect(dataOf(await say(started, "Hello"), "done")).toMatchObject([{ status: "succeeded" }]);
  });

  it("while one is open every message is refused", async () => {
    const started = await start("careful", { "careful.md": CAREFUL });
    await ask(started);
    await expect(send(started, "Hello")).rejects.toMatchObject({ code: "waiting_for_approval" });
  });
});

describe("abort", () => {
  it("kills the command, records what became of the call, and the thread takes the next message", async () => {
    const started = await start();
    const run_id = await send(started, "Run the command: sleep 30");
    await expect.poll(() => started.storage.listToolCalls(run_id)).toMatchObject([{ status: "started" }]);
    const sandbox = await started.runtime.sandboxes.open(started.session.id, started.folder);
    await expect.poll(() => sandbox.running()).toMatchObject([{ command: "sleep 30" }]);
    await started.runtime.engine.abort(started.session.id);
    const events = await eventsOf(started, run_id, 0);
    expect(dataOf(events, "done")).toMatchObject([{ status: "aborted" }]);
    expect(dataOf(events, "tool_result")).toMatchObject([{ outcome: "aborted" }]);
    const messages = await started.storage.listMessagesForSession(started.session.id);
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool"]);
    expect(dataOf(await say(started, "Hello"), "done")).toMatchObject([{ status: "succeeded" }]);
  });
});

describe("delegation", () => {
  it("names the agent that works, and its tool calls are in the journal too", async () => {
    const researcher =
      "---\nname: researcher\ndescription: Finds things out.\nmode: subagent\n---\nYou find things out.\n";
    const started = await start("default", { "researcher.md": researcher });
    const run_id = await send(
      started,
      "Delegate to researcher: Create a file named found.txt containing exactly the word yes",
    );
    const events = await eventsOf(started, run_id, 0);
    expect(dataOf(events, "delegation")).toMatchObject([{ target_agent: "researcher" }]);
    expect(readFileSync(join(started.folder, "found.txt"), "utf8")).toBe("yes");
    expect(dataOf(events, "tool_call").find(({ name }) => name === "write_file")).toMatchObject({
      agent: "researcher",
    });
    expect(await started.storage.listToolCalls(run_id)).toMatchObject([{ name: "write_file", status: "ok" }]);
  });
});
