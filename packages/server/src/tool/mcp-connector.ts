import { AppError } from "@cognition/contract";
import type { McpServerConfig } from "./mcp-config.ts";
import { type McpConnection, openMcpConnection } from "./mcp-connection.ts";

/** The one connection to a server: made at first use, and again when it was lost. */
export interface McpConnector {
  /** Throws `tool_failed` naming the server. */
  connect(): Promise<McpConnection>;
  isOpen(): boolean;
  /** Only that one: somebody else may have made a new one meanwhile. */
  drop(lost: McpConnection): Promise<void>;
  close(): Promise<void>;
}

export function createMcpConnector(config: McpServerConfig, cwd: string): McpConnector {
  let opening: Promise<McpConnection> | undefined;
  let current: McpConnection | undefined;
  const closing = new AbortController();

  return {
    async connect() {
      if (closing.signal.aborted)
        throw new AppError("draining", `MCP server ${config.name} is closed: the node is shutting down`);
      if (current?.isOpen()) return current;
      opening ??= openMcpConnection(config, cwd, closing.signal).finally(() => {
        opening = undefined;
      });
      const opened = await opening;
      if (closing.signal.aborted) await opened.close();
      current = opened;
      return opened;
    },
    isOpen: () => current?.isOpen() ?? false,
    async drop(lost) {
      if (current === lost) current = undefined;
      await lost.close();
    },
    async close() {
      // A server that hangs at its start must not hold up the node's end.
      closing.abort(new Error("the node is shutting down"));
      const opened = await opening?.catch(() => undefined); // told to those who wait for it
      await opened?.close();
      await current?.close();
    },
  };
}
