import { EventEmitter, once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createClient } from "@cognition/client";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createTempDir, type TempDir } from "../../../testing/temp-dir.ts";
import { type RunningCli, runCli, startInTerminal, startServe } from "./cli-process.ts";

let dir: TempDir;
let open: RunningCli[] = [];
beforeEach(() => {
  dir = createTempDir();
});
afterEach(async () => {
  for (const { child } of open) child.kill("SIGKILL");
  await Promise.all(open.map(({ exited }) => exited));
  open = [];
  dir.remove();
});
const chat = (input: string, ...args: string[]) => runCli(["chat", ...args], { cwd: dir.path, input });

function terminal(...args: string[]): RunningCli {
  const running = startInTerminal(["chat", ...args], { cwd: dir.path });
  open.push(running);
  return running;
}

function writeCareful(): void {
  mkdirSync(join(dir.path, ".cognition/agents"), { recursive: true });
  const definition =
    "---\nname: careful\ndescription: Asks first.\ninterrupt_on:\n  execute: {allowed_decisions: [approve, reject], description: Look twice.}\n---\nYou are careful.\n";
  writeFileSync(join(dir.path, ".cognition/agents/careful.md"), definition);
}

describe("chat through a pipe", () => {
  test("works in this folder, and a later one goes on with the session", async () => {
    const first = await chat("Create a file named notes.txt containing exactly the word hello\n");
    expect(first).toMatchObject({ code: 0, errors: "" });
    expect(first.output).toContain("· write_file");
    expect(readFileSync(join(dir.path, "notes.txt"), "utf8")).toBe("hello");

    const listed = await runCli(["sessions", "--json"], { cwd: dir.path });
    const [session] = JSON.parse(listed.output).sessions;
    expect(session.title).toContain("Create a file named notes.txt");
    const second = await chat("What did I say first?\n", "--session", session.id);
    expect(second.output).toContain("4 messages so far");
    expect(second.output).toMatch(/first said: "Create a file named notes.txt/);
    const last = await chat("/session\n", "--last");
    expect(last.errors).toContain(session.id);
  });

  test("answers are read from it too; --json gives the events", async () => {
    writeCareful();
    const refused = await chat("Run the command: touch a.txt\nrather not\n", "--agent", "careful");
    expect(refused.errors).toContain('The agent wants to: execute {"command":"touch a.txt"}\n  Look twice.');
    expect(existsSync(join(dir.path, "a.txt"))).toBe(false);
    expect(refused.output).not.toContain("the server was interrupted");
    const unanswered = await chat("Run the command: touch a.txt\n", "--agent", "careful");
    expect(unanswered).toMatchObject({
      code: 1,
      errors: expect.stringMatching(/waits for your answer; .* --session \S+/),
    });
    const allowed = await chat("Run the command: touch b.txt\ny\n", "--agent", "careful", "--json");
    expect(existsSync(join(dir.path, "b.txt"))).toBe(true);
    const events = allowed.output
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(events.map(({ id }) => id)).toEqual(events.map((_, index) => index + 1));
    expect(events.map(({ event }) => event)).toContain("interrupt");
    expect(events.at(-1)).toMatchObject({ event: "done", data: { status: "succeeded" } });
  });

  test("an agent for a session that has another one is refused, not passed over in silence", async () => {
    await chat("hello\n");
    const other = await chat("hello\n", "--last", "--agent", "readonly");
    expect(other).toMatchObject({ code: 2, errors: expect.stringContaining('the session\'s agent is "default"') });
    expect(await chat("/session\n", "--last", "--agent", "default")).toMatchObject({ code: 0 });
    expect(await chat("hello\n", "--last", "--session", "x")).toMatchObject({ code: 2 });
  });

  test("a path or a comment is a message; an order that there is not is a mistake", async () => {
    const said = await chat("/etc/hosts: what is in it?\n");
    expect(said).toMatchObject({ code: 0, errors: "", output: expect.stringContaining(`{"path":"/etc/hosts"}`) });
    expect(await chat("// a comment\n")).toMatchObject({ code: 0, errors: "" });
    const unknown = await chat("/quit\n");
    expect(unknown).toMatchObject({ code: 2, errors: expect.stringMatching(/there is no \/quit here:\n {2}\/undo/) });
    expect(await chat("/undo\n")).toMatchObject({
      code: 0,
      errors: expect.stringContaining("nothing to take back yet"),
    });
    expect(await chat("/help\n")).toMatchObject({ code: 0, errors: expect.stringMatching(/^ {2}\/undo/) });
  });

  test("an unknown session or agent is told, with exit code 1 or 2", async () => {
    expect(await chat("", "--session", "nobody")).toMatchObject({ code: 1, errors: expect.stringContaining("nobody") });
    const agent = await chat("hello\n", "--agent", "nobody");
    expect(agent).toMatchObject({ code: 1, errors: expect.stringContaining("nobody") });
  });
});

describe("chat in a terminal", () => {
  test("Ctrl-C stops the run and not the session; the second one leaves", async () => {
    const { until, type, exited } = terminal();
    await until(/> /);
    type("Run the command: sleep 100\r");
    await until(/· execute/);
    type("\x03");
    await until(/stopping the agent/);
    await until(/\(aborted\)/);
    await until(/> /);
    type("Create a file named after.txt containing exactly the word still\r");
    await until(/· write_file/);
    await until(/> /);
    expect(readFileSync(join(dir.path, "after.txt"), "utf8")).toBe("still");
    type("\x03");
    await until(/once more, or Ctrl-D, to leave/);
    type("\x03");
    expect(await exited).toBe(0);
  });

  test("goes on with a run that another one has answered, and does not ask again", async () => {
    writeCareful();
    const served = await startServe([], { cwd: dir.path });
    open.push(served);
    const client = createClient({ baseUrl: served.url });
    const session = await client.createSession({ agent_name: "careful" });
    await client.sendMessage(session.id, "Run the command: sleep 100").rest();
    const { approvals } = await client.listApprovals({ session_id: session.id });
    const decisions = approvals.map(({ id }) => ({ id, type: "approve" as const }));
    for await (const { event } of client.resumeAndFollow(session.id, { decisions })) if (event === "tool_call") break;

    const { until, type, exited, seen } = terminal("--url", served.url, "--session", session.id);
    await until(/· execute/);
    await client.abortSession(session.id);
    await until(/\(aborted\)/);
    await until(/> /);
    expect(seen()).not.toContain("allow?");
    type("\x04");
    expect(await exited).toBe(0);
  });

  test("asks before what must be approved", async () => {
    writeCareful();
    const { until, type, exited } = terminal("--agent", "careful");
    await until(/> /);
    type("Run the command: touch made.txt\r");
    await until(/allow\? /);
    expect(existsSync(join(dir.path, "made.txt"))).toBe(false);
    type("y\r");
    await until(/> /);
    expect(existsSync(join(dir.path, "made.txt"))).toBe(true);
    type("\x04");
    expect(await exited).toBe(0);
  });

  test("Ctrl-C at a question stops the agent, and what comes next is a message again", async () => {
    writeCareful();
    const { until, type, exited } = terminal("--agent", "careful");
    await until(/> /);
    type("Run the command: touch made.txt\r");
    await until(/allow\? /);
    type("\x03");
    await until(/stopping the agent/);
    await until(/> /);
    type("What did I say first?\r");
    await until(/first said: "Run the command: touch made.txt/);
    expect(existsSync(join(dir.path, "made.txt"))).toBe(false);
    await until(/> /);
    type("\x04");
    expect(await exited).toBe(0);
  });

  test("what is pasted is one message, sent by Enter", async () => {
    const { until, type, exited } = terminal();
    await until(/> /);
    type("\x1b[200~one\rtwo\rthree\x1b[201~");
    type("\r");
    await until(/offline model/);
    await until(/> /);
    type("\x04");
    expect(await exited).toBe(0);
    const { sessions } = JSON.parse((await runCli(["sessions", "--json"], { cwd: dir.path })).output);
    expect(sessions).toMatchObject([{ title: "one two three", message_count: 2 }]);
  });

  test("what stood on the line at Ctrl-C is no part of the next message, pasted or typed; and Ctrl-D leaves then", async () => {
    const { until, type, exited } = terminal();
    await until(/> /);
    type("\x1b[200~one\rtwo\x1b[201~");
    await until(/two/);
    type("\x03");
    await until(/once more, or Ctrl-D, to leave[^>]*> /);
    type("three\r");
    await until(/offline model/);
    await until(/> /);
    type("four");
    await until(/four/);
    type("\x03");
    await until(/to leave[^>]*> /);
    type("\x04");
    expect(await exited).toBe(0);
    const { sessions } = JSON.parse((await runCli(["sessions", "--json"], { cwd: dir.path })).output);
    expect(sessions).toMatchObject([{ title: "three", message_count: 2 }]);
  });

  test("a server that has gone is told and waited for, and keeps nobody", async () => {
    const server = await startServe([], { cwd: dir.path });
    open.push(server);
    const { until, type, exited } = terminal("--url", server.url);
    await until(/> /);
    type("Run the command: sleep 20\r");
    await until(/· execute/);
    server.child.kill("SIGKILL");
    await until(/the connection was lost; trying again/);
    type("\x03");
    await until(/once more to leave/);
    type("\x03");
    expect(await exited).toBe(0);
  });

  test("its terminal may be closed: what runs is handed over", async () => {
    // Whoever lets go without a word keeps the session for ten minutes.
    const chatting = startInTerminal(["chat"], { cwd: dir.path, env: { COGNITION_RUNS_LEASE_MS: "600000" } });
    open.push(chatting);
    await chatting.until(/> /);
    chatting.type("Run the command: sleep 1; echo kept\r");
    await chatting.until(/· execute/);
    chatting.child.kill("SIGKILL"); // which is the terminal itself
    await chatting.exited;
    const server = await startServe([], { cwd: dir.path });
    open.push(server);
    const client = createClient({ baseUrl: server.url });
    const [session] = (await client.listSessions()).sessions;
    const [run] = (await client.listRuns(session?.id ?? "")).runs;
    const end = await client.followRun(session?.id ?? "", run?.id ?? "").rest();
    expect(end).toMatchObject({ event: "done", data: { status: "succeeded" } });
  });

  test("Ctrl-C at a question that an earlier chat left stops the agent too", async () => {
    writeCareful();
    const unanswered = await chat("Run the command: touch made.txt\n", "--agent", "careful");
    expect(unanswered.errors).toContain("waits for your answer");
    const { until, type, exited } = terminal("--last");
    await until(/allow\? /);
    type("\x03");
    await until(/stopping the agent/);
    await until(/> /);
    type("What did I say first?\r");
    await until(/first said: "Run the command: touch made.txt/);
    await until(/> /);
    type("\x04");
    expect(await exited).toBe(0);
  });

  test("a server that never answers keeps nobody", async () => {
    const requests = new EventEmitter();
    const server = createServer(({ url = "" }, response) => {
      requests.emit(url);
      if (url === "/sessions/s")
        response.setHeader("content-type", "application/json").end('{"id":"s","message_count":1}');
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    try {
      const [early, asked] = [terminal("--url", address, "--session", "other"), once(requests, "/sessions/other")];
      await asked;
      early.type("\x03");
      expect(await early.exited).toBe(130);
      const looked = once(requests, "/approvals?session_id=s");
      const { until, type, exited } = terminal("--url", address, "--session", "s");
      await until(/goes on, 1 message so far/);
      await looked;
      type("\x03");
      await until(/to leave/);
      type("\x03");
      expect(await exited).toBe(0);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
});
