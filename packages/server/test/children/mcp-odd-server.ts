import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";

// Speaks the protocol by hand, to say what the SDK would not.
appendFileSync(process.env["JOURNAL"] ?? "", `started ${process.pid}\n`);

const object = { type: "object" };
const TOOLS = [
  { name: "plain", inputSchema: object },
  { name: "schemaless" },
  { name: "texty", inputSchema: { type: "string" } },
  { name: 7, inputSchema: object },
  "no tool at all",
  { name: "grumpy", inputSchema: object },
  { name: "garbled", inputSchema: object },
];

const CALLS: Record<string, object> = {
  plain: { result: { content: [{ type: "text", text: "fine" }] } },
  grumpy: { error: { code: -32000, message: "I am busy" } },
  garbled: { result: { content: "no list" } },
};

function answer(method: string, params: { name?: string }): object {
  if (method === "initialize") {
    const serverInfo = { name: "odd", version: "1" };
    return { result: { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo } };
  }
  return method === "tools/list" ? { result: { tools: TOOLS } } : (CALLS[params.name ?? ""] ?? {});
}

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id !== undefined) process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...answer(method, params) })}\n`);
});
