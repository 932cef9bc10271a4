import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, it, vi } from "vitest";
import { createTempDir } from "../../../../testing/temp-dir.ts";
import { defaultConfig } from "../../src/config.ts";
import { dataOf, type Started, type StartOptions, say, startRuntime } from "./started-runtime.ts";

const CHILD = join(import.meta.dirname, "..", "children", "mcp-stdio-server.ts");

afterEach(() => vi.restoreAllMocks());

async function startWith(env: Record<string, string>, options: StartOptions = {}): Promise<Started> {
  const config = defaultConfig();
  const server = { name: "test", command: process.execPath, args: [CHILD], env };
  const mcp = [{ ...server, connect_timeout_ms: 50_000, call_timeout_ms: 20_000 }];
  return startRuntime({ config: { ...config, tools: { ...config.tools, mcp } }, ...options });
}

const outputs = async (started: Started, message: string) =>
  (await say(started, message)).flatMap(({ event, data }) => (event === "tool_result" ? [data["output"]] : []));

it("an agent has the tools that its MCP server says it has by now", async () => {
  const started = await startWith({});
  expect(await outputs(started, "Use the test_echo tool with text hello")).toEqual(["hello"]);
  expect(await outputs(started, "Use the test_learnt tool")).toEqual([]);
  expect(await outputs(started, "Use the test_learn tool")).toEqual(["a new tool"]);
  expect(await outputs(started, "Use the test_learnt tool")).toEqual(["as I was taught"]);
});

it("an agent has the tools of an MCP server that could not be started at first, once half a minute is over", async () => {
  const folder = createTempDir();
  const started = await startWith({ NEEDS_FILE: join(folder.path, "database") });
  expect(await outputs(started, "Use the test_echo tool with text hello")).toEqual([]);
  writeFileSync(join(folder.path, "database"), "");
  const now = performance.now.bind(performance);
  vi.spyOn(performance, "now").mockImplementation(() => now() + 31_000);
  // A server that failed before is waited for only so long: where it takes longer to start, the message after it has the tools.
  await expect.poll(() => outputs(started, "Use the test_echo tool with text hello")).toEqual(["hello"]);
  folder.remove();
});

it("an agent that lists one of its tools says so while that server is away; one that may delegate to it works", async () => {
  const files = { ".cognition/agents/echo.md": "---\ndescription: Echoes\ntools: [test_echo]\n---\nYou echo.\n" };
  const started = await startWith({ DIE_AT_START: "1" }, { files, session: { agent_name: "echo" } });
  const events = await say(started, "Hello");
  expect(dataOf(events, "error")).toMatchObject([
    { code: "tool_failed", message: expect.stringContaining("the MCP server of test_echo"), recoverable: true },
  ]);
  await started.storage.updateSession(started.session.id, { agent_name: "default" });
  expect(dataOf(await say(started, "Hello"), "done")).toMatchObject([{ status: "succeeded" }]);
});
