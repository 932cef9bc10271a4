import { z } from "zod";
import { defineTool } from "./define-tool.ts";
import type { ToolDefinition } from "./tool.ts";

export interface SearchHit {
  title: string;
  url: string;
  snippet: string;
}

/** A web search. Throws `tool_failed` if it was refused, rather than finding nothing. */
export interface SearchProvider {
  readonly name: string;
  search(query: string, options: { limit: number; signal: AbortSignal }): Promise<SearchHit[]>;
}

const SCHEMA = z.object({
  query: z.string().trim().min(1).max(500),
  limit: z.int().min(1).max(25).default(8),
});

export function createSearchTool({ provider }: { provider: SearchProvider }): ToolDefinition {
  return defineTool({
    name: "search",
    description: "Searches the web; gives titles, addresses and snippets. Read a page with the browser tool.",
    schema: SCHEMA,
    on_crash: "retry",
    effect: "network",
    async run({ query, limit }, { signal }) {
      const hits = (await provider.search(query, { limit, signal })).slice(0, limit);
      if (hits.length === 0) return { output: `${provider.name} found nothing for: ${query}`, artifact: hits };
      const lines = hits.map(({ title, url, snippet }, index) => `${index + 1}. ${title}\n   ${url}\n   ${snippet}`);
      return { output: lines.join("\n"), artifact: hits };
    },
  }) as ToolDefinition;
}
