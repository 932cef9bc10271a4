import { findScopeKey } from "@cognition/contract";
import type { ArrivedRequest, Guard } from "../guard.ts";
import type { OriginList } from "./origin-list.ts";

const METHODS = "GET, HEAD, POST, PUT, PATCH, DELETE";
const REQUEST_HEADERS = [
  "accept",
  "authorization",
  "content-type",
  "idempotency-key",
  "if-match",
  "last-event-id",
  "prefer",
  "traceparent",
  "tracestate",
  "x-api-key",
  "x-request-id",
];
const EXPOSED = "Content-Location, Location, ETag, Preference-Applied, Retry-After, WWW-Authenticate, X-Request-Id";
/** Chromium keeps it for two hours at most, Firefox for a day. */
const MAX_AGE_S = 7200;

/** Lets pages of the listed origins send what this API reads and see what it answers. Never with cookies: it has none. */
export function createCorsGuard(origins: OriginList): Guard {
  return {
    before: (request) => (isPreflight(request) ? preflight(request) : undefined),
    after: ({ headers }, response) => {
      if (!origins.any) response.headers.append("Vary", "Origin");
      const origin = headers.get("origin");
      if (origin === null || !origins.has(origin)) return;
      response.headers.set("Access-Control-Allow-Origin", origins.any ? "*" : origin);
      response.headers.set("Access-Control-Expose-Headers", EXPOSED);
    },
  };
}

function isPreflight({ method, headers }: ArrivedRequest): boolean {
  return method === "OPTIONS" && headers.has("origin") && headers.has("access-control-request-method");
}

function preflight({ headers }: ArrivedRequest): Response {
  const answer = new Headers({
    "Access-Control-Allow-Methods": METHODS,
    "Access-Control-Allow-Headers": [...REQUEST_HEADERS, ...wantedScopes(headers)].join(", "),
    "Access-Control-Max-Age": String(MAX_AGE_S),
  });
  if (headers.get("access-control-request-private-network") === "true") {
    answer.set("Access-Control-Allow-Private-Network", "true");
  }
  return new Response(null, { status: 204, headers: answer });
}

/** Any scope's header may be sent, configured or not; a `*` in the answer would not cover Authorization. */
function wantedScopes(headers: Headers): string[] {
  const wanted = headers.get("access-control-request-headers") ?? "";
  const names = wanted.split(",").map((name) => name.trim().toLowerCase());
  return names.filter((name) => /^[a-z0-9-]+$/.test(name) && findScopeKey(name) !== undefined);
}
