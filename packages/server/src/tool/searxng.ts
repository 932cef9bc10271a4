import { AppError } from "@cognition/contract";
import { z } from "zod";
import type { GuardedFetch } from "../outgoing/guarded-fetch.ts";
import type { SearchProvider } from "./search.ts";

const Answer = z.object({
  results: z.array(z.object({ title: z.string(), url: z.string(), content: z.string().nullish() })),
});

/** A SearXNG instance of one's own, with `json` among its formats. */
export function createSearxng({ fetch, baseUrl }: { fetch: GuardedFetch; baseUrl: string }): SearchProvider {
  return {
    name: "SearXNG",
    async search(query, { signal }) {
      const url = new URL("/search", baseUrl);
      url.search = new URLSearchParams({ q: query, format: "json" }).toString();
      const { status, body } = await fetch(url.href, { signal, headers: { accept: "application/json" } });
      const answer = status === 200 ? Answer.safeParse(parseJson(body)) : undefined;
      if (!answer?.success) {
        const message = `SearXNG at ${url.host} gave no results (status ${status}). Is "json" among its search formats?`;
        throw new AppError("tool_failed", message);
      }
      return answer.data.results.map(({ title, url, content }) => ({ title, url, snippet: content ?? "" }));
    },
  };
}

function parseJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(body));
  } catch {
    return undefined;
  }
}
