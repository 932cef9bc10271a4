import { AppError } from "@cognition/contract";
import { z } from "zod";
import type { GuardedFetch } from "../outgoing/guarded-fetch.ts";
import type { SearchHit, SearchProvider } from "./search.ts";

// Some of its results are no pages (a table of values, say); they have no address, and are passed over.
const Answer = z.object({ results: z.array(z.unknown()) });
const Result = z.object({ title: z.string(), url: z.string().min(1), content: z.string().nullish() });

/** A SearXNG instance of one's own, with `json` among its formats. */
export function createSearxng({ fetch, baseUrl }: { fetch: GuardedFetch; baseUrl: string }): SearchProvider {
  return {
    name: "SearXNG",
    async search(query, { signal }) {
      // Below its own path, where it has one.
      const url = new URL("search", baseUrl.replace(/\/?$/, "/"));
      url.search = new URLSearchParams({ q: query, format: "json" }).toString();
      const { status, body } = await fetch(url.href, { signal, headers: { accept: "application/json" } });
      const answer = status === 200 ? Answer.safeParse(parseJson(body)) : undefined;
      if (!answer?.success) {
        const message = `SearXNG at ${url.host} gave no results (status ${status}). Is "json" among its search formats?`;
        throw new AppError("tool_failed", message);
      }
      return answer.data.results.flatMap((result) => toHit(result) ?? []);
    },
  };
}

function toHit(result: unknown): SearchHit | undefined {
  const { data } = Result.safeParse(result);
  return data && { title: data.title, url: data.url, snippet: data.content ?? "" };
}

function parseJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(body));
  } catch {
    return undefined;
  }
}
