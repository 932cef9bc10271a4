import { createInterface } from "node:readline";
import { parseMcpServers } from "../../src/tool/mcp-config.ts";
import { createMcpServer } from "../../src/tool/mcp-server.ts";
import type { RegisteredTool, ToolContext } from "../../src/tool/tool.ts";

/** One line of JSON for each command from stdin: what it came to, or its error. */
type Command = { do: "list" } | { do: "call"; tool: string; args: object } | { do: "abort" } | { do: "close" };

const [config] = parseMcpServers([JSON.parse(process.argv[2] ?? "{}")]);
if (!config) throw new Error("no config");
const server = createMcpServer(config, { cwd: process.cwd(), now: () => performance.now() });
const controller = new AbortController();
let tools: RegisteredTool[] = [];

// What these tools use of it.
const context = {
  idempotency_key: "key-1",
  signal: controller.signal,
  emit: () => undefined,
} as unknown as ToolContext;

async function run(command: Command): Promise<unknown> {
  switch (command.do) {
    case "list":
      tools = await server.tools();
      return tools.map(({ name }) => name);
    case "call":
      return tools.find(({ name }) => name === command.tool)?.run(command.args as Record<string, unknown>, context);
    case "abort":
      return controller.abort(new Error("enough"));
    case "close":
      return server.close();
  }
}

const lines = createInterface({ input: process.stdin });
lines.on("line", (line) => {
  run(JSON.parse(line) as Command).then(
    (value) => console.log(JSON.stringify({ value })),
    (error) => console.log(JSON.stringify({ error: { code: error.code, message: error.message } })),
  );
});
