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
  let closed = false;

  return {
    async connect() {
      if (closed) throw new AppError("draining", `MCP server ${config.name} is closed: the node is shutting down`);
      if (current?.isOpen()) return current;
      opening ??= openMcpConnection(config, cwd).finally(() => {
        opening = undefined;
      });
      const opened = await opening;
      if (closed) await opened.close();
      current = opened;
      return opened;
    },
    isOpen: () => current?.isOpen() ?? false,
    async drop(lost) {
      if (current === lost) current = undefined;
      await lost.close();
    },
    async close() {
      closed = true;
      const opened = await opening?.catch(() => undefined); // told to those who wait for it
      await opened?.close();
      await current?.close();
    },
  };
}
