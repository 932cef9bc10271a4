import { describe, expect, it } from "vitest";
import { createCorsGuard } from "../../../src/http/guard/cors-guard.ts";
import { createOriginList } from "../../../src/http/guard/origin-list.ts";
import { anArrival } from "./an-arrival.ts";

const origin = "https://app.example.com";
const guard = createCorsGuard(createOriginList([origin]));

async function preflight(wanted: string, more: Record<string, string> = {}): Promise<Response> {
  const headers = {
    origin,
    "access-control-request-method": "POST",
    "access-control-request-headers": wanted,
    ...more,
  };
  const request = anArrival(headers, { method: "OPTIONS" });
  const response = await guard.before?.(request);
  if (!response) throw new Error("no answer to the preflight");
  guard.after?.(request, response);
  return response;
}

describe("CORS", () => {
  it("a preflight allows all that this API reads, and scope headers of any key", async () => {
    const scope = "x-cognition-scope-user, x-cognition-scope-team-id, x-evil";
    const { status, headers } = await preflight(scope);
    expect(status).toBe(204);
    expect(headers.get("Access-Control-Allow-Origin")).toBe(origin);
    expect(headers.get("Access-Control-Allow-Methods")).toBe("GET, HEAD, POST, PUT, PATCH, DELETE");
    const allowed = headers.get("Access-Control-Allow-Headers")?.split(", ");
    for (const name of [
      "authorization",
      "x-api-key",
      "content-type",
      "last-event-id",
      "idempotency-key",
      "if-match",
      "prefer",
      "x-cognition-scope-user",
      "x-cognition-scope-team-id",
    ]) {
      expect(allowed).toContain(name);
    }
    expect(allowed).not.toContain("x-evil");
    expect(headers.get("Access-Control-Allow-Credentials")).toBeNull();
    expect(headers.get("Access-Control-Allow-Private-Network")).toBeNull();
  });

  it("a public page may ask for a server of a private network, once it is listed", async () => {
    const { headers } = await preflight("", { "access-control-request-private-network": "true" });
    expect(headers.get("Access-Control-Allow-Private-Network")).toBe("true");
  });

  it("an answer shows the page where the run is, the request's id and when to come again", () => {
    const response = new Response();
    guard.after?.(anArrival({ origin }), response);
    expect(response.headers.get("Access-Control-Allow-Origin")).toBe(origin);
    expect(response.headers.get("Vary")).toBe("Origin");
    for (const name of ["Content-Location", "X-Request-Id", "Retry-After"]) {
      expect(response.headers.get("Access-Control-Expose-Headers")).toContain(name);
    }
  });

  it("nothing is shown to another origin, nor is an answer for one taken from a cache for another", () => {
    for (const headers of [{ origin: "https://evil.example" }, {}]) {
      const response = new Response();
      guard.after?.(anArrival(headers), response);
      expect([...response.headers]).toEqual([["vary", "Origin"]]);
    }
  });

  it("with * every page may, and the answers are the same for all", () => {
    const response = new Response();
    createCorsGuard(createOriginList(["*"])).after?.(anArrival({ origin: "https://any.example" }), response);
    expect(response.headers.get("Access-Control-Allow-Origin")).toBe("*");
    expect(response.headers.get("Vary")).toBeNull();
  });

  it("a plain OPTIONS is no preflight", () => {
    expect(guard.before?.(anArrival({}, { method: "OPTIONS" }))).toBeUndefined();
  });
});
