import { describe, expect, it } from "vitest";
import { createRequestLog } from "../../../src/http/guard/request-log.ts";
import { createSecurityHeaders } from "../../../src/http/guard/security-headers.ts";
import { createLogger } from "../../../src/telemetry/logger.ts";
import { anAdmission, anArrival } from "./an-arrival.ts";

function createLines(level: "debug" | "info" = "info") {
  const lines: Record<string, unknown>[] = [];
  const write = (line: string) => lines.push(JSON.parse(line));
  return { lines, log: createLogger({ level, format: "json", write, secrets: [] }) };
}

describe("the log of requests", () => {
  it("has one line for each, with what a person looks for and nothing of query and headers", () => {
    const { lines, log } = createLines();
    let now = 5;
    const guard = createRequestLog({ log, now: () => now });
    const url = new URL("http://127.0.0.1:8000/sessions?token=query-secret&metadata.k=private");
    const request = anArrival(
      { authorization: "Bearer header-secret", "x-api-key": "key-secret", cookie: "c=d" },
      { url },
    );
    guard.before?.(request);
    guard.admit?.(anAdmission({ user: "ann" }, { ...request, route: "listSessions" }));
    now = 17.5;
    guard.after?.(request, new Response(null, { status: 200 }));
    expect(lines).toEqual([
      {
        level: "info",
        time: expect.any(String),
        msg: "request",
        request_id: "r1",
        method: "GET",
        path: "/sessions",
        route: "listSessions",
        status: 200,
        duration_ms: 12.5,
        scope: { user: "ann" },
        remote_address: "127.0.0.1",
      },
    ]);
  });

  it("tells failures of the server loudly, and probes and files of a page only when asked", () => {
    const { lines, log } = createLines();
    const guard = createRequestLog({ log, now: () => 0 });
    guard.after?.(anArrival({}, { route: "getHealth" }), new Response());
    guard.after?.(anArrival({}, { route: "getHealth" }), new Response(null, { status: 503 }));
    guard.after?.(anArrival({}, { route: undefined }), new Response(null, { status: 404 }));
    guard.after?.(anArrival({}, { route: undefined }), new Response());
    expect(lines.map(({ level, status }) => [level, status])).toEqual([
      ["error", 503],
      ["info", 404],
    ]);
  });
});

describe("security headers", () => {
  it("are on every answer, and what an agent wrote can't run as a page of this server", () => {
    const response = new Response("<script>", { headers: { "Content-Type": "text/html" } });
    createSecurityHeaders().after?.(anArrival(), response);
    expect(Object.fromEntries(response.headers)).toEqual({
      "content-type": "text/html",
      "x-content-type-options": "nosniff",
      "x-frame-options": "DENY",
      "referrer-policy": "no-referrer",
      "cross-origin-resource-policy": "same-origin",
      "content-security-policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
      "cache-control": "no-store",
    });
  });

  it("leave a page its own policy, and a stream its own caching", () => {
    const headers = { "Content-Security-Policy": "default-src 'self'", "Cache-Control": "no-cache" };
    const response = new Response("", { headers });
    createSecurityHeaders().after?.(anArrival(), response);
    for (const [name, value] of Object.entries(headers)) expect(response.headers.get(name)).toBe(value);
  });
});
