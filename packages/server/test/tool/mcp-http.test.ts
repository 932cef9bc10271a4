import { type ChildProcessByStdio, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { addTestTools } from "../children/mcp-test-tools.ts";
import { until } from "./until.ts";
import { startWebServer, type WebServer } from "./web-server.ts";

const CHILDREN = join(import.meta.dirname, "..", "children");
const web: WebServer[] = [];
const clients: { close(): void }[] = [];
const answers = new Map<number, unknown[]>();
let child: ChildProcessByStdio<Writable, Readable, null>;

/** The clients are in a process of their own, as a server has them: one for all, since it takes as long to start as all they do. */
beforeAll(() => {
  child = spawn(process.execPath, ["--conditions=cognition-source", join(CHILDREN, "mcp-http-client.ts")], {
    stdio: ["pipe", "pipe", "inherit"],
    env: { PATH: process.env["PATH"] },
  });
  createInterface({ input: child.stdout }).on("line", (line) => {
    const { client, answer } = JSON.parse(line) as { client: number; answer: unknown };
    answers.get(client)?.push(answer);
  });
});

afterAll(async () => {
  const ended = child.exitCode === null ? once(child, "exit") : undefined;
  child.kill("SIGKILL");
  await ended;
});

afterEach(async () => {
  for (const client of clients.splice(0)) client.close();
  await Promise.all(web.splice(0).map((server) => server.close()));
});

/** With sessions, as the SDK's examples have it. `forget` is what a restart does to them. */
async function startHttpServer({ unknownSession = 404 } = {}) {
  const servers: McpServer[] = [];
  const extra: string[] = [];
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  const seen: (string | undefined)[] = [];
  const notes: string[] = [];
  let hangsUp = false;
  let refusal: { status: number; text: string } | undefined;
  const lingering = Promise.withResolvers<void>();
  async function open() {
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (id) => void sessions.set(id, transport),
      onsessionclosed: (id) => void sessions.delete(id),
    });
    const server = new McpServer({ name: "http", version: "1.0.0" });
    addTestTools(server, (line) => notes.push(line));
    server.registerTool("linger", { inputSchema: {} }, async () => {
      notes.push("lingering");
      await lingering.promise;
      return { content: [{ type: "text", text: "at last" }] };
    });
    for (const name of extra) addExtra(server, name);
    servers.push(server);
    await server.connect(transport as Parameters<McpServer["connect"]>[0]);
    return transport;
  }
  const answers = new Set<ServerResponse>();
  const server = await startWebServer(async (req, res) => {
    if (req.method === "POST") answers.add(res.on("close", () => answers.delete(res)));
    seen.push(req.headers["x-key"] as string | undefined);
    if (hangsUp) {
      hangsUp = false;
      req.socket.destroy();
      return;
    }
    if (refusal) {
      const { status, text } = refusal;
      refusal = undefined;
      res.writeHead(status).end(text);
      return;
    }
    const id = req.headers["mcp-session-id"] as string | undefined;
    const known = id === undefined ? await open() : sessions.get(id);
    if (known) await known.handleRequest(req, res);
    else res.writeHead(unknownSession).end("Bad Request: No valid session ID provided");
  });
  web.push(server);
  /** As a new release of it would have. Tells its clients. */
  const addTool = (name: string) => {
    extra.push(name);
    for (const one of servers) addExtra(one, name);
  };
  const url = `${server.url}/mcp`;
  const hangUpOnce = () => {
    hangsUp = true;
  };
  const refuseOnce = (status: number, text: string) => {
    refusal = { status, text };
  };
  const close = () => server.close();
  const endAnswers = (how: "end" | "destroy") => {
    for (const res of answers) res[how]();
  };
  return {
    url,
    close,
    sessions,
    seen,
    notes,
    addTool,
    hangUpOnce,
    refuseOnce,
    endAnswers,
    endLinger: lingering.resolve,
  };
}

function addExtra(server: McpServer, name: string): void {
  server.registerTool(name, { inputSchema: {} }, () => ({ content: [{ type: "text", text: name }] }));
}

function startClient(config: object) {
  const client = answers.size;
  const told: unknown[] = [];
  answers.set(client, told);
  let read = 0;
  const send = (command: object) => child.stdin.write(`${JSON.stringify({ client, ...command })}\n`);
  async function next() {
    await until("an answer", () => told.length > read);
    return told[read++];
  }
  async function ask(command: object) {
    send(command);
    return next();
  }
  send({ do: "begin", config: { name: "web", connect_timeout_ms: 50_000, ...config } });
  read = 1;
  clients.push({ close: () => send({ do: "close" }) });
  return { send, next, ask, call: (tool: string, args = {}) => ask({ do: "call", tool, args }) };
}

describe("an MCP server over HTTP", () => {
  it("runs a tool, with the headers that are configured, and is told of the end", async () => {
    const { url, seen, sessions } = await startHttpServer();
    const client = startClient({ url, headers: { "x-key": "k" } });
    expect(await client.ask({ do: "list" })).toMatchObject({ value: expect.arrayContaining(["web_echo"]) });
    expect(await client.call("web_echo", { text: "hi" })).toEqual({ value: { output: "hi" } });
    expect(new Set(seen)).toEqual(new Set(["k"]));
    expect(sessions.size).toBe(1);
    expect(await client.ask({ do: "close" })).toEqual({});
    await until("the end of its session", () => sessions.size === 0);
  });

  it.each([404, 400])(
    "that has forgotten the session (%i) gets a new one, and the call once",
    async (unknownSession) => {
      const { url, sessions, notes } = await startHttpServer({ unknownSession });
      const client = startClient({ url });
      await client.ask({ do: "list" });
      sessions.clear();
      expect(await client.call("web_order", { item: "tea" })).toEqual({ value: { output: "ordered tea" } });
      expect(notes).toEqual(["order tea key-1"]);
    },
  );

  it("that has forgotten the session when its tools are asked for gets a new one", async () => {
    const { url, sessions, addTool } = await startHttpServer();
    const client = startClient({ url });
    const lists = async (name: string) => {
      const { value } = (await client.ask({ do: "list" })) as { value?: string[] };
      return value?.includes(name) ?? false;
    };
    expect(await lists("web_echo")).toBe(true);
    addTool("first");
    await until("the first new tool", () => lists("web_first"));
    addTool("second");
    sessions.clear();
    await until("the second new tool", () => lists("web_second"));
  });

  it("is told when a call is aborted", async () => {
    const { url, notes } = await startHttpServer();
    const client = startClient({ url });
    await client.ask({ do: "list" });
    client.send({ do: "call", tool: "web_wait", args: {} });
    await until("the tool's start", () => notes.includes("waiting"));
    client.send({ do: "abort" });
    const answers = [await client.next(), await client.next()];
    expect(answers).toContainEqual({ error: { message: "enough" } });
    await until("the cancellation", () => notes.includes("cancelled"));
  });

  it("that is gone before the call is an error, and not an unknown outcome", async () => {
    const { url, close } = await startHttpServer();
    const client = startClient({ url });
    await client.ask({ do: "list" });
    await close();
    web.length = 0;
    expect(await client.call("web_order", { item: "tea" })).toMatchObject({
      error: { code: "tool_failed", message: expect.stringContaining("MCP server web") },
    });
  });

  it("that breaks off in the middle of a call leaves it unknown", async () => {
    const { url, notes, close } = await startHttpServer();
    const client = startClient({ url, call_timeout_ms: 5000 });
    await client.ask({ do: "list" });
    client.send({ do: "call", tool: "web_wait", args: {} });
    await until("the tool's start", () => notes.includes("waiting"));
    await close();
    web.length = 0;
    expect(await client.next()).toMatchObject({ error: { code: "outcome_unknown" } });
  });

  it.each(["end", "destroy"] as const)(
    "whose stream has an %s before the answer is not waited for until the call's time is up",
    async (how) => {
      const { url, notes, endAnswers } = await startHttpServer();
      const client = startClient({ url, call_timeout_ms: 15_000 });
      await client.ask({ do: "list" });
      client.send({ do: "call", tool: "web_linger", args: {} });
      await until("the call", () => notes.includes("lingering"));
      endAnswers(how);
      expect(await client.next()).toMatchObject({
        error: { code: "outcome_unknown", message: expect.stringContaining("linger of MCP server web broke off") },
      });
    },
  );

  it("that breaks off one call leaves the others alone, and its session", async () => {
    const { url, notes, sessions, hangUpOnce, endLinger } = await startHttpServer();
    const client = startClient({ url });
    await client.ask({ do: "list" });
    const [session] = sessions.keys();
    client.send({ do: "call", tool: "web_linger", args: {} });
    await until("the first call", () => notes.includes("lingering"));
    hangUpOnce();
    expect(await client.call("web_order", { item: "tea" })).toMatchObject({ error: { code: "outcome_unknown" } });
    hangUpOnce();
    expect(await client.call("web_echo", { text: "again" })).toEqual({ value: { output: "again" } });
    endLinger();
    expect(await client.next()).toEqual({ value: { output: "at last" } });
    expect([...sessions.keys()]).toEqual([session]);
  });

  it("whose gateway gives up on a call leaves it unknown; one that may be repeated is", async () => {
    const { url, refuseOnce } = await startHttpServer();
    const client = startClient({ url });
    await client.ask({ do: "list" });
    refuseOnce(504, `<html>${"Gateway Time-out ".repeat(1000)}`);
    const { error } = (await client.call("web_order", { item: "tea" })) as { error: { code: string; message: string } };
    expect(error).toMatchObject({
      code: "outcome_unknown",
      message: expect.stringMatching(/broke off \(it answered HTTP 504: <html>Gateway Time-out .*cut off/s),
    });
    expect(error.message.length).toBeLessThan(2500);
    refuseOnce(502, "");
    expect(await client.call("web_echo", { text: "again" })).toEqual({ value: { output: "again" } });
    refuseOnce(403, "");
    expect(await client.call("web_order", { item: "tea" })).toEqual({
      error: { code: "tool_failed", message: "order of MCP server web failed: it answered HTTP 403" },
    });
  });

  it("that refuses the key is told with its status, and without the key that is in its address", async () => {
    const other = await startWebServer((_req, res) => res.writeHead(401).end());
    web.push(other);
    const { host } = new URL(other.url);
    expect(await startClient({ url: `${other.url}/secret/mcp?key=secret` }).ask({ do: "list" })).toEqual({
      error: { code: "tool_failed", message: `MCP server web (${host}) did not start: it answered HTTP 401` },
    });
  });

  it("that does not speak the protocol is an error that names it", async () => {
    const other = await startWebServer((_req, res) => res.writeHead(500).end("no"));
    web.push(other);
    expect(await startClient({ url: other.url }).ask({ do: "list" })).toMatchObject({
      error: { code: "tool_failed", message: expect.stringContaining("MCP server web") },
    });
  });
});
