import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type McpServerConfigInput, parseMcpServers } from "../../src/tool/mcp-config.ts";
import { toToolOutput } from "../../src/tool/mcp-result.ts";
import { createMcpServer, type McpServer, toolName } from "../../src/tool/mcp-server.ts";
import type { RegisteredTool, ToolContext } from "../../src/tool/tool.ts";
import { createToolRegistry } from "../../src/tool/tool-registry.ts";
import { openToolContext, type TestContext } from "./tool-context.ts";
import { until } from "./until.ts";
import { createWorkspace, type Workspace } from "./workspace.ts";

const CHILD = join(import.meta.dirname, "..", "children", "mcp-stdio-server.ts");

let test: TestContext;
let workspace: Workspace;
const servers: McpServer[] = [];

beforeEach(async () => {
  test = await openToolContext();
  workspace = await createWorkspace();
});
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
  await test.close();
  await workspace.dispose();
});

let clock = 0;
function serverOf(input: McpServerConfigInput): McpServer {
  const [config] = parseMcpServers([input]);
  if (!config) throw new Error("no config");
  const server = createMcpServer(config, { cwd: workspace.root, now: () => clock });
  servers.push(server);
  return server;
}

const stdio = (given: Partial<McpServerConfigInput> = {}, env: Record<string, string> = {}) =>
  serverOf({
    name: "test",
    command: process.execPath,
    args: [CHILD],
    env: { JOURNAL: workspace.path("journal"), ...env },
    connect_timeout_ms: 50_000,
    ...given,
  });

const journal = () =>
  existsSync(workspace.path("journal")) ? readFileSync(workspace.path("journal"), "utf8").trim().split("\n") : [];

async function find(server: McpServer, name: string): Promise<RegisteredTool> {
  const tool = (await server.tools()).find((candidate) => candidate.name === name);
  if (!tool) throw new Error(`no tool ${name}`);
  return tool;
}

const call = async (server: McpServer, name: string, args = {}, context: Partial<ToolContext> = {}) =>
  (await find(server, name)).run(args, { ...test.context, ...context });

describe("a server that takes the protocol lightly", () => {
  const odd = () => stdio({ args: [join(import.meta.dirname, "..", "children", "mcp-odd-server.ts")] });

  it("gives the tools that can be used, and says of each other one why not", async () => {
    const server = odd();
    expect((await server.tools()).map(({ name }) => name)).toEqual(["test_plain", "test_grumpy", "test_garbled"]);
    expect(await call(server, "test_plain")).toEqual({ output: "fine" });
    const told = server.problems().map(({ message }) => message);
    expect(told).toHaveLength(4);
    expect(told.join("\n")).toMatch(/test.*schemaless.*left out: inputSchema.*\n.*texty.*inputSchema/s);
  });

  it("is not started anew for an error of its own, or for an answer that can't be read", async () => {
    const server = odd();
    await expect(call(server, "test_grumpy")).rejects.toMatchObject({
      code: "tool_failed",
      message: expect.stringMatching(/^grumpy of MCP server test failed: .*I am busy$/),
    });
    const unreadable = await call(server, "test_garbled").catch((error: unknown) => error as Error & { code: string });
    expect(unreadable).toMatchObject({
      code: "outcome_unknown",
      message: expect.stringMatching(/garbled .*answered in a form that can't be read \(content: .*Nobody knows/s),
    });
    expect((unreadable as Error).message).not.toMatch(/[{}]/);
    expect(await call(server, "test_plain")).toEqual({ output: "fine" });
    expect(journal()).toHaveLength(1);
  });
});

describe("a server over stdio", () => {
  it("is started at first use, and gives its tools under its name", async () => {
    const server = stdio();
    expect(server.known()).toBeUndefined();
    expect(journal()).toEqual([]);
    const names = (await server.tools()).map(({ name }) => name);
    expect(names).toContain("test_echo");
    expect(names.every((name) => name.startsWith("test_"))).toBe(true);
    expect(server.known()?.map(({ name }) => name)).toEqual(names);
    expect(await server.tools()).toBe(server.known());
    expect(journal()).toHaveLength(1);
  });

  it("runs a tool", async () => {
    const server = stdio();
    expect(await call(server, "test_echo", { text: "héllo\n✓" })).toEqual({ output: "héllo\n✓" });
    expect(await call(server, "test_picture")).toEqual({
      output: [
        { type: "text", text: "a dot" },
        { type: "image", mimeType: "image/png", data: "AAAA" },
      ],
    });
    expect(await call(server, "test_measure")).toEqual({ output: '{"celsius":21}', artifact: { celsius: 21 } });
  });

  it("is told the call's idempotency key", async () => {
    await call(stdio(), "test_order", { item: "tea" });
    expect(journal()).toContain("order tea key-1");
  });

  it("does not see this process's environment", async () => {
    process.env["SOME_API_KEY"] = "secret";
    const result = await call(stdio(), "test_env").finally(() => delete process.env["SOME_API_KEY"]);
    expect(result).toMatchObject({ output: expect.stringContaining("PATH") });
    expect(result).not.toMatchObject({ output: expect.stringContaining("SOME_API_KEY") });
  });

  it("declares by its hints what a crash means and what a tool may do", async () => {
    const server = stdio();
    expect(await find(server, "test_echo")).toMatchObject({ on_crash: "retry", effect: "network", hinted: true });
    expect(await find(server, "test_set")).toMatchObject({ on_crash: "retry", effect: "write" });
    expect(await find(server, "test_order")).toMatchObject({ on_crash: "never", effect: "execute", source: "mcp" });
    const told = stdio({ on_crash: "ask", effect: "read" });
    expect(await find(told, "test_order")).toMatchObject({ on_crash: "ask", effect: "read", hinted: false });
  });

  it("gives only the tools that are allowed", async () => {
    expect((await stdio({ tools: ["echo", "other"] }).tools()).map(({ name }) => name)).toEqual(["test_echo"]);
  });

  it("what it calls an error is the call's error", async () => {
    await expect(call(stdio(), "test_fail")).rejects.toMatchObject({ code: "tool_failed", message: "it is broken" });
  });

  it("is told when a call is aborted", async () => {
    const controller = new AbortController();
    const server = stdio();
    const pending = call(server, "test_wait", {}, { signal: controller.signal });
    const refused = expect(pending).rejects.toThrow("enough");
    await until("the tool's start", () => journal().includes("waiting"));
    await until("its progress", () => test.events.length > 0);
    expect(test.events).toEqual([{ event: "tool_output", content: "half way\n" }]);
    controller.abort(new Error("enough"));
    await refused;
    await until("the cancellation", () => journal().includes("cancelled"));
    expect(await call(server, "test_echo", { text: "still there" })).toEqual({ output: "still there" });
  });

  it("a call that takes too long is unknown, unless it may be repeated", async () => {
    const message = expect.stringContaining("did not answer within 300 ms");
    await expect(call(stdio({ call_timeout_ms: 300 }), "test_wait")).rejects.toMatchObject({
      code: "outcome_unknown",
      message,
    });
    const safe = stdio({ call_timeout_ms: 300, on_crash: "retry" });
    await expect(call(safe, "test_wait")).rejects.toMatchObject({ code: "tool_failed", message });
  });

  it("that dies in a call leaves it unknown, is not asked twice, and is started again for the next", async () => {
    const server = stdio();
    await expect(call(server, "test_die_writing")).rejects.toMatchObject({
      code: "outcome_unknown",
      message: expect.stringContaining("out of memory"),
    });
    expect(journal().filter((line) => line === "die_writing")).toHaveLength(1);
    expect(await call(server, "test_echo", { text: "again" })).toEqual({ output: "again" });
    expect(journal().filter((line) => line.startsWith("started"))).toHaveLength(2);
  });

  it("that hangs when it is started again holds up no call that is aborted", async () => {
    const hangs = workspace.path("hangs");
    const server = stdio({ connect_timeout_ms: 600_000 }, { HANGS_WITH_FILE: hangs });
    const echo = await find(server, "test_echo");
    await expect(call(server, "test_die_writing")).rejects.toMatchObject({ code: "outcome_unknown" });
    writeFileSync(hangs, "");
    const stop = new AbortController();
    const called = echo.run({ text: "hello" }, { ...test.context, signal: stop.signal });
    await until("the hanging start", () => journal().at(-1) === "hangs");
    stop.abort(new Error("stopped"));
    await expect(called).rejects.toThrow("stopped");
  });

  it("that dies in a call which may be repeated is asked once more", async () => {
    await expect(call(stdio(), "test_die")).rejects.toThrow();
    expect(journal().filter((line) => line === "die")).toHaveLength(2);
  });

  it.each([
    ["a program that is not there", { command: "no-such-program-anywhere", args: [] }, {}, "no-such-program-anywhere"],
    ["a program that ends", {}, { DIE_AT_START: "1" }, "no database configured"],
    [
      "a program that says nothing",
      { args: ["-e", "process.stdin.resume()"], connect_timeout_ms: 300 },
      {},
      "timed out",
    ],
  ])("%s is an error that names it", async (_name, given, env, reason) => {
    const server = stdio(given, env);
    await expect(server.tools()).rejects.toMatchObject({
      code: "tool_failed",
      message: expect.stringMatching(new RegExp(`MCP server test .*${reason}`, "s")),
    });
    expect(server.problems()).toHaveLength(1);
  });

  it("that can't be started is tried again after a while, not at each use", async () => {
    clock = 0;
    const server = stdio({}, { DIE_AT_START: "1" });
    const first = await server.tools().catch((error: unknown) => error);
    clock = 29_999;
    expect(await server.tools().catch((error: unknown) => error)).toBe(first);
    clock = 30_001;
    await server.tools().catch(() => undefined);
    await until("the second try to have failed", () => server.problems()[0] !== first);
  });

  it("that hung at its start delays nobody else by as much when it is tried again", { tags: "long" }, async () => {
    clock = 0;
    const server = stdio({ args: ["-e", "process.stdin.resume()"], connect_timeout_ms: 5_000 });
    const began = performance.now();
    const first = await server.tools().catch((error: unknown) => error);
    const took = performance.now() - began;
    clock = 30_001;
    const again = performance.now();
    expect(await server.tools().catch((error: unknown) => error)).toBe(first);
    expect((performance.now() - again) / took).toBeLessThan(0.5);
  });

  it.each([
    ["ends with it", {}],
    ["is killed if it does not", { STUBBORN: "1" }],
  ])("closing: its process %s", async (_name, env) => {
    const server = stdio({}, env);
    await server.tools();
    const pid = Number(journal()[0]?.split(" ")[1]);
    expect(isAlive(pid)).toBe(true);
    await server.close();
    await until("its end", () => !isAlive(pid));
    await expect(server.tools()).rejects.toMatchObject({ code: "draining" });
  });

  it("closing: one that hangs at its start is not waited for", async () => {
    const server = stdio({ args: ["-e", "process.stdin.resume()"] });
    const starting = expect(server.tools()).rejects.toMatchObject({
      message: expect.stringContaining("shutting down"),
    });
    const began = performance.now();
    await server.close();
    await starting;
    expect(performance.now() - began).toBeLessThan(20_000); // of the 50 s that it has to start
  });

  it("closing: a process that a script started as the server ends with the script", { tags: "long" }, async () => {
    const server = stdio({ command: "sh", args: ["-c", `"${process.execPath}" "${CHILD}"; true`] }, { BUSY: "1" });
    await server.tools();
    const pid = Number(journal()[0]?.split(" ")[1]);
    await server.close();
    await until("its end", () => !isAlive(pid));
  });

  it("that gives more than can be read is ended, with the reason told, and started again for the next call", {
    tags: "long",
  }, async () => {
    const server = stdio();
    await expect(call(server, "test_flood")).rejects.toMatchObject({
      code: "outcome_unknown",
      message: expect.stringContaining(
        "flood of MCP server test broke off (it gave an answer of more than 10485760 bytes)",
      ),
    });
    expect(await call(server, "test_echo", { text: "again" })).toEqual({ output: "again" });
  });

  it("that dies leaves nothing behind of what it started", { tags: "long" }, async () => {
    const server = stdio();
    await call(server, "test_fork");
    const pid = Number(/^forked (\d+)$/m.exec(journal().join("\n"))?.[1]);
    expect(isAlive(pid)).toBe(true);
    await expect(call(server, "test_die_writing")).rejects.toMatchObject({ code: "outcome_unknown" });
    await until("the end of its child", () => !isAlive(pid));
  });

  it("leads a process group of its own: a Ctrl-C at our terminal does not end it in the middle of a call", async () => {
    const server = stdio();
    await server.tools();
    const pid = Number(journal()[0]?.split(" ")[1]);
    expect(isAlive(-pid)).toBe(true);
  });
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

it("a text beside a picture is bounded as one alone is", () => {
  const picture = { type: "image" as const, mimeType: "image/png", data: "AAAA" };
  const { output } = toToolOutput("shot", { content: [{ type: "text", text: "x".repeat(300_000) }, picture] });
  expect(output).toEqual([{ type: "text", text: expect.stringContaining("cut off: 102400 of 300000 bytes") }, picture]);
});

describe("several servers", () => {
  it("one that fails does not stop the others, and is reported", async () => {
    const broken = stdio({ name: "broken" }, { DIE_AT_START: "1" });
    const registry = createToolRegistry({ builtins: [], servers: [broken, stdio({ name: "fine" })] });
    const known = await registry.known();
    expect([known.has("fine_echo"), known.has("broken_x"), known.has("other_x")]).toEqual([true, true, false]);
    const names = (await registry.ask()).usable.map(({ name }) => name);
    expect(names).toContain("fine_echo");
    expect(names.some((name) => name.startsWith("broken"))).toBe(false);
    expect(await registry.problems()).toMatchObject([{ message: expect.stringContaining("MCP server broken") }]);
    const after = await registry.known();
    expect([after.has("fine_echo"), after.has("fine_nothing"), after.has("broken_x")]).toEqual([true, false, true]);
  });

  it("only those are asked that could have a tool that is wanted", async () => {
    const registry = createToolRegistry({ builtins: [], servers: [stdio()] });
    expect((await registry.ask(["other_x"])).usable).toEqual([]);
    expect(journal()).toEqual([]);
  });
});

describe("configuration", () => {
  it.each([
    [{ name: "a" }, "give either command or url"],
    [{ name: "a", command: "x", url: "http://x" }, "give either command or url"],
    [{ name: "a_b", command: "x" }, "name"],
    [{ name: "a", url: "ftp://x" }, "url"],
    [{ name: "a", url: "no address" }, "url"],
    [{ name: "a", url: "http://ann:secret@x/mcp" }, "url: must not hold a user name or a password"],
    [{ name: "a", url: "http://x", args: [] }, "args and env"],
    [{ name: "a", command: "x", headers: {} }, "headers are for"],
    [{ name: "a", command: "x", retry: true }, "retry"],
  ])("%j is refused", (config, message) => {
    expect(() => parseMcpServers([config])).toThrow(expect.objectContaining({ code: "invalid_config" }));
    expect(() => parseMcpServers([config])).toThrow(message);
    expect(() => parseMcpServers([config])).not.toThrow("secret");
  });

  it("refuses two servers of one name", () => {
    expect(() =>
      parseMcpServers([
        { name: "a", command: "x" },
        { name: "A", command: "y" },
      ]),
    ).toThrow("two MCP servers");
  });

  it("makes names that every model takes", () => {
    expect(toolName("s", "a.b/c d")).toBe("s_a_b_c_d");
    const long = toolName("server", "x".repeat(100));
    expect(long).toHaveLength(64);
    expect(toolName("server", `${"x".repeat(100)}y`)).not.toBe(long);
  });
});
