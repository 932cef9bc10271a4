import { createGuardedFetch } from "../outgoing/guarded-fetch.ts";
import type { BuiltinToolsOptions } from "../tool/builtin-tools.ts";
import { parseMcpServers } from "../tool/mcp-config.ts";
import { createMcpServer, type McpServer } from "../tool/mcp-server.ts";
import { createSearxng } from "../tool/searxng.ts";
import type { Config } from "./config-schema.ts";

/** What the built-in tools take of the configuration. */
export function toolSettings({ tools }: Config): BuiltinToolsOptions {
  const fetch = createGuardedFetch({ allow: tools.allow_addresses });
  const { provider, url } = tools.search;
  return {
    fetch,
    maxOutputBytes: tools.max_output_bytes,
    ...(provider === "searxng" && url !== undefined && { searchProvider: createSearxng({ fetch, baseUrl: url }) }),
  };
}

export function configuredServers({ tools }: Config, cwd: string): McpServer[] {
  return parseMcpServers(tools.mcp).map((server) => createMcpServer(server, { cwd, now: () => performance.now() }));
}
