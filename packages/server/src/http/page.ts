import { createHash } from "node:crypto";
import { asksForHtml } from "./accept.ts";
import type { ArrivedRequest } from "./guard.ts";

export interface PageFile {
  /** Such as `text/html; charset=utf-8`. */
  readonly content_type: string;
  readonly text: string;
}

/**
 * The files of a page for browsers, by their path; the one at `/` is what whoever opens the address is shown. Called when a file
 * is first asked for. The server has no page itself: it is given by who has one.
 */
export type LoadPage = () => Promise<ReadonlyMap<string, PageFile>>;

/** A page's answer to a request; undefined for what is none of its files. */
export type AnswerPage = (request: ArrivedRequest) => Promise<Response | undefined>;

/** Its own files alone, and no text that a script would take for markup: what models and tools say is never that. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

type Known = PageFile & { readonly etag: string };

/** No path gets further than the list of files: one that is not in it is not there. */
export function createPage(load: LoadPage): AnswerPage {
  let known: Promise<ReadonlyMap<string, Known>> | undefined;

  function read(): Promise<ReadonlyMap<string, Known>> {
    known ??= load().then(withTags);
    known.catch(() => {
      known = undefined; // told to whoever asked; the next one may find them
    });
    return known;
  }

  return async ({ method, url, headers }) => {
    if (method !== "GET" && method !== "HEAD") return undefined;
    if (url.pathname === "/" && !asksForHtml(headers)) return undefined;
    const file = (await read()).get(url.pathname);
    if (!file) return undefined;
    const sent = {
      ETag: file.etag,
      // Kept, and asked about each time: after an upgrade no file of the older one is used with those of the newer.
      "Cache-Control": "no-cache",
      "Content-Security-Policy": POLICY,
      ...(url.pathname === "/" && { Vary: "Accept" }),
    };
    if (headers.get("If-None-Match")?.includes(file.etag)) return new Response(null, { status: 304, headers: sent });
    return new Response(file.text, { headers: { ...sent, "Content-Type": file.content_type } });
  };
}

function withTags(files: ReadonlyMap<string, PageFile>): ReadonlyMap<string, Known> {
  const tagged = [...files].map(([path, file]) => {
    const hash = createHash("sha256").update(`${file.content_type}\n${file.text}`).digest("base64url");
    return [path, { ...file, etag: `"${hash}"` }] as const;
  });
  return new Map(tagged);
}
