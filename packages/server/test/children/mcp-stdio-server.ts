import { spawn } from "node:child_process";
import { appendFileSync, existsSync } from "node:fs";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { addTestTools } from "./mcp-test-tools.ts";

// The journal tells a test what reached the server, also after its death.
const journal = process.env["JOURNAL"];
const note = (line: string) => journal && appendFileSync(journal, `${line}\n`);

process.stderr.write("hello from stderr\n");
const needed = process.env["NEEDS_FILE"];
if (process.env["DIE_AT_START"] || (needed && !existsSync(needed))) {
  process.stderr.write("no database configured\n");
  process.exit(3);
}
const hangs = process.env["HANGS_WITH_FILE"];
// It never answers, nor does it end by itself.
if (hangs && existsSync(hangs)) {
  note("hangs");
  setInterval(() => undefined, 1000);
  await new Promise(() => undefined);
}
// As a pool of connections does: the end of stdin is then not the end.
if (process.env["BUSY"]) setInterval(() => undefined, 1000);
if (process.env["STUBBORN"]) {
  process.on("SIGTERM", () => note("ignored SIGTERM"));
  setInterval(() => undefined, 1000);
}

const server = new McpServer({ name: "test", version: "1.0.0" });
addTestTools(server, (line) => note(line));
server.registerTool("fork", { inputSchema: {} }, () => {
  const child = spawn("sleep", ["600"], { stdio: "inherit" });
  note(`forked ${child.pid}`);
  return { content: [{ type: "text", text: "forked" }] };
});
server.registerTool("learn", { inputSchema: {} }, () => {
  server.registerTool("learnt", { inputSchema: {} }, () => ({ content: [{ type: "text", text: "as I was taught" }] }));
  return { content: [{ type: "text", text: "a new tool" }] };
});
note(`started ${process.pid}`);
await server.connect(new StdioServerTransport());
