import type { GuardedFetch } from "../outgoing/guarded-fetch.ts";
import { ARTIFACT_TOOLS } from "./artifact-tools.ts";
import { createBrowserTool } from "./browser.ts";
import { createDuckDuckGo } from "./duckduckgo.ts";
import { inspectPackage } from "./inspect-package.ts";
import { MEMORY_TOOLS } from "./memory-tools.ts";
import { createSearchTool, type SearchProvider } from "./search.ts";
import type { ToolDefinition } from "./tool.ts";

export interface BuiltinToolsOptions {
  fetch: GuardedFetch;
  /** DuckDuckGo by default. */
  searchProvider?: SearchProvider;
  maxOutputBytes?: number;
}

/** The tools that need nothing but what they are given here and in their context. */
export function createBuiltinTools(options: BuiltinToolsOptions): ToolDefinition[] {
  const { fetch, searchProvider = createDuckDuckGo({ fetch }), maxOutputBytes } = options;
  return [
    createBrowserTool({ fetch, ...(maxOutputBytes !== undefined && { maxOutputBytes }) }),
    createSearchTool({ provider: searchProvider }),
    ...[inspectPackage, ...ARTIFACT_TOOLS, ...MEMORY_TOOLS].map((tool) => tool as ToolDefinition),
  ];
}
