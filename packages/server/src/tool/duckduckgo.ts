import { AppError } from "@cognition/contract";
import { type HTMLElement, parse } from "node-html-parser";
import type { GuardedFetch } from "../outgoing/guarded-fetch.ts";
import type { SearchHit, SearchProvider } from "./search.ts";

/** DuckDuckGo's page for browsers without scripts: needs no key. */
export function createDuckDuckGo(options: { fetch: GuardedFetch; baseUrl?: string }): SearchProvider {
  const { fetch, baseUrl = "https://html.duckduckgo.com" } = options;
  return {
    name: "DuckDuckGo",
    async search(query, { signal }) {
      const url = new URL("/html/", baseUrl);
      url.searchParams.set("q", query);
      // Without a browser's name the page is refused at once.
      const headers = { "user-agent": "Mozilla/5.0 (compatible; cognition)", accept: "text/html" };
      const { status, body } = await fetch(url.href, { signal, headers });
      const page = parse(new TextDecoder().decode(body));
      if (status !== 200 || page.querySelector(".anomaly-modal__title, #challenge-form")) {
        const message = `DuckDuckGo refused the search (status ${status}), as it does with many in a short time. Try again later, or configure another search provider.`;
        throw new AppError("tool_failed", message);
      }
      return page.querySelectorAll(".result").flatMap((result) => toHit(result) ?? []);
    },
  };
}

function toHit(result: HTMLElement): SearchHit | undefined {
  const link = result.querySelector("a.result__a");
  const url = link && target(link.getAttribute("href") ?? "");
  if (!url || result.classList.contains("result--ad")) return undefined;
  return { title: plain(link), url, snippet: plain(result.querySelector(".result__snippet")) };
}

/** Results lead over a redirect of DuckDuckGo's own, which has the address as a parameter. */
function target(href: string): string | undefined {
  const url = URL.parse(href, "https://duckduckgo.com");
  const address = url?.pathname === "/l/" ? url.searchParams.get("uddg") : href;
  const parsed = URL.parse(address ?? "");
  return parsed && /^https?:$/.test(parsed.protocol) ? parsed.href : undefined;
}

function plain(element: HTMLElement | null): string {
  return (element?.text ?? "").replace(/\s+/g, " ").trim();
}
