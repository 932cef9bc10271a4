import { expect, it } from "vitest";
import { defaultConfig } from "../../src/config.ts";
import { say, startRuntime } from "./started-runtime.ts";

it("what is wrong with definitions, tool files and MCP servers is told once, and stands in the health as long as it is", async () => {
  const config = defaultConfig();
  const absent = { name: "absent", command: "/no/such/program", connect_timeout_ms: 5_000, call_timeout_ms: 5_000 };
  const started = await startRuntime({
    config: { ...config, tools: { ...config.tools, mcp: [absent] } },
    files: {
      ".cognition/agents/broken.yaml": "name: [",
      ".cognition/tools/throwing.ts": 'throw new Error("not today");\n',
    },
  });
  const { runtime, errors } = started;
  const warnings = async () => {
    const response = await runtime.http.app.request("/health");
    return ((await response.json()) as { warnings: string[] }).warnings.join("\n");
  };
  runtime.start();
  await expect.poll(() => errors.map(String).join("\n"), { timeout: 20_000 }).toMatch(/not today/);
  expect(await warnings()).toMatch(/broken\.yaml.*throwing\.ts/s);
  expect(await warnings()).not.toContain("absent");
  await say(started, "Hello"); // with all tools there are: the server is asked
  expect(await warnings()).toContain("MCP server absent");
  expect(await warnings()).toContain("MCP server absent");
  const told = errors.map((error) => (error as Error).message);
  expect(told).toHaveLength(new Set(told).size);
  expect(told).toHaveLength(3);
});
