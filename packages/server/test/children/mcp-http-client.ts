import { createInterface } from "node:readline";
import { parseMcpServers } from "../../src/tool/mcp-config.ts";
import { createMcpServer, type McpServer } from "../../src/tool/mcp-server.ts";
import type { RegisteredTool, ToolContext } from "../../src/tool/tool.ts";

/** One line of JSON for each command from stdin: what it came to, or its error. Each client has what it was begun with to itself. */
type Command =
  | { do: "begin"; config: object }
  | { do: "list" }
  | { do: "call"; tool: string; args: object }
  | { do: "abort" }
  | { do: "close" };

interface Client {
  readonly server: McpServer;
  readonly controller: AbortController;
  readonly context: ToolContext;
  tools: RegisteredTool[];
}

const clients = new Map<number, Client>();

function begin(given: object): Client {
  const [config] = parseMcpServers([given]);
  if (!config) throw new Error("no config");
  const controller = new AbortController();
  // What these tools use of it.
  const context = {
    idempotency_key: "key-1",
    signal: controller.signal,
    emit: () => undefined,
  } as unknown as ToolContext;
  const server = createMcpServer(config, { cwd: process.cwd(), now: () => performance.now() });
  return { server, controller, context, tools: [] };
}

async function run(id: number, command: Command): Promise<unknown> {
  if (command.do === "begin") return void clients.set(id, begin(command.config));
  const client = clients.get(id);
  if (!client) throw new Error("no such client");
  switch (command.do) {
    case "list":
      client.tools = await client.server.tools();
      return client.tools.map(({ name }) => name);
    case "call": {
      const tool = client.tools.find(({ name }) => name === command.tool);
      return tool?.run(command.args as Record<string, unknown>, client.context);
    }
    case "abort":
      return client.controller.abort(new Error("enough"));
    case "close":
      return client.server.close();
  }
}

const lines = createInterface({ input: process.stdin });
lines.on("line", (line) => {
  const { client, ...command } = JSON.parse(line) as Command & { client: number };
  run(client, command as Command).then(
    (value) => console.log(JSON.stringify({ client, answer: { value } })),
    (error) => console.log(JSON.stringify({ client, answer: { error: { code: error.code, message: error.message } } })),
  );
});
