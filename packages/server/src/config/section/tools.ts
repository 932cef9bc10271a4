import { DEFAULT_MAX_OUTPUT_BYTES } from "@cognition/contract";
import { z } from "zod";
import { McpServerConfig } from "../../tool/mcp-config.ts";
import { httpUrl, oneOf, option, section, wholeNumber } from "../option.ts";

const MIB = 1024 * 1024;
const names = (what: string) => z.array(z.string().min(1), { error: `must be a list of ${what}` });

export const ToolsSection = section({
  disabled: option(names("tools").default([]), {
    description: "Built-in tools that no agent gets, such as `browser`, `search` or `execute`.",
  }),
  allow_addresses: option(names("addresses").default([]), {
    description:
      "Addresses besides public ones that tools may reach: an address, a range (`10.1.0.0/16`), a host, `host:port`.",
  }),
  max_output_bytes: option(wholeNumber(1024, 100 * MIB).default(DEFAULT_MAX_OUTPUT_BYTES), {
    description: "How much of a page the browser tool gives.",
  }),
  search: section({
    provider: option(oneOf(["duckduckgo", "searxng"]).default("duckduckgo"), { description: "Who searches the web." }),
    url: option(httpUrl().optional(), {
      description: "The address of the searxng instance. Allow it in `tools.allow_addresses` if it is not public.",
    }),
  }),
  mcp: option(z.array(McpServerConfig, { error: "must be a list of MCP servers" }).default([]), {
    description:
      "MCP servers: `{name, command, args, env, cwd}` or `{name, url, headers}`, with `tools`, `effect`, `on_crash`.",
    secret: true,
  }),
});
