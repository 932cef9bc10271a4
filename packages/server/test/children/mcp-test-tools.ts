import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { z } from "zod";

const text = (value: string) => ({ content: [{ type: "text" as const, text: value }] });

/** Tools that do what a test of a client needs; what reaches them is noted. */
export function addTestTools(server: McpServer, note: (line: string) => void): void {
  const reading = { annotations: { readOnlyHint: true } };
  server.registerTool(
    "echo",
    { description: "Says it again", inputSchema: { text: z.string() }, ...reading },
    ({ text: said }) => text(said),
  );
  server.registerTool("order", { inputSchema: { item: z.string() } }, ({ item }, { _meta }) => {
    note(`order ${item} ${_meta?.["cognition/idempotency_key"]}`);
    return text(`ordered ${item}`);
  });
  server.registerTool("set", { inputSchema: {}, annotations: { idempotentHint: true, destructiveHint: false } }, () =>
    text("set"),
  );
  server.registerTool("fail", { inputSchema: {} }, () => ({ ...text("it is broken"), isError: true }));
  server.registerTool("picture", { inputSchema: {} }, () => ({
    content: [
      { type: "text", text: "a dot" },
      { type: "image", mimeType: "image/png", data: "AAAA" },
    ],
  }));
  server.registerTool("measure", { inputSchema: {}, outputSchema: { celsius: z.number() } }, () => ({
    content: [],
    structuredContent: { celsius: 21 },
  }));
  server.registerTool("flood", { inputSchema: {} }, () => text("x".repeat(11 * 1024 * 1024)));
  server.registerTool("env", { inputSchema: {} }, () => text(Object.keys(process.env).join(",")));
  server.registerTool("wait", { inputSchema: {} }, async (_args, { signal, sendNotification, _meta }) => {
    note("waiting");
    const progressToken = _meta?.progressToken;
    if (progressToken !== undefined) {
      const params = { progressToken, progress: 1, message: "half way" };
      await sendNotification({ method: "notifications/progress", params });
    }
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
    note("cancelled");
    return text("never seen");
  });
  server.registerTool("die", { inputSchema: {}, ...reading }, () => {
    note("die");
    return process.exit(9);
  });
  server.registerTool("die_writing", { inputSchema: {} }, () => {
    note("die_writing");
    process.stderr.write("out of memory\n");
    return process.exit(9);
  });
}
