import { describe, expect, it } from "vitest";
import { createOriginGuard } from "../../../src/http/guard/origin-guard.ts";
import { createOriginList } from "../../../src/http/guard/origin-list.ts";
import { anArrival } from "./an-arrival.ts";

const guard = createOriginGuard({
  host: "127.0.0.1",
  hosts: ["agents.example.com"],
  origins: createOriginList(["https://app.example.com", "http://localhost:5173"]),
});

function passes(headers: Record<string, string>, method = "POST"): boolean {
  try {
    expect(guard.before?.(anArrival(headers, { method }))).toBeUndefined();
    return true;
  } catch (error) {
    expect(error).toMatchObject({ code: "origin_refused", message: expect.stringContaining("Nothing was done") });
    return false;
  }
}

describe("the host", () => {
  it.each([
    "localhost",
    "LOCALHOST:8000",
    "app.localhost",
    "127.0.0.1:8000",
    "127.1.2.3",
    "[::1]:8000",
    "agents.example.com",
    "Agents.Example.com:443",
    "10.0.0.7:8000",
    "[fd00::1]",
  ])("%s is known", (host) => {
    expect(passes({ host })).toBe(true);
  });

  it.each([
    "evil.example",
    "localhost.evil.example",
    "agents.example.com.evil.example",
    "127.0.0.1.nip.io",
    "a@localhost",
    "evil.example#localhost",
    "",
    "a b",
    "xlocalhost",
  ])("%s is refused: a page's own name that resolves to this machine", (host) => {
    expect(passes({ host })).toBe(false);
  });

  it("any name will do once that is configured", () => {
    const open = createOriginGuard({ host: "127.0.0.1", hosts: ["*"], origins: createOriginList([]) });
    expect(open.before?.(anArrival({ host: "whatever.example" }))).toBeUndefined();
  });

  it("a listed name is known as browsers send it, and what a refusal says to list is one", () => {
    const known = (host: string, listed: string) => {
      const { before } = createOriginGuard({ host: "127.0.0.1", hosts: [listed], origins: createOriginList([]) });
      return before?.(anArrival({ host }));
    };
    expect(known("agents.example:8443", "Agents.example.")).toBeUndefined();
    expect(known("xn--bcher-kva.example", "bücher.example")).toBeUndefined();
    expect(known("[fd00::1]:8000", "fd00::1")).toBeUndefined();
    expect(() => known("agents.example:8443", "other.example")).toThrow('not known as "agents.example".');
  });

  it.each(["agents.example:8443", "agents.example:80", "https://agents.example", "*.example", "a b", "", "[::1]:80"])(
    'a list with "%s" stops the start: no request would ever be for it',
    (host) => {
      const start = () => createOriginGuard({ host: "127.0.0.1", hosts: [host], origins: createOriginList([]) });
      expect(start).toThrow(
        expect.objectContaining({ code: "invalid_config", message: expect.stringMatching(/hosts/) }),
      );
    },
  );
});

describe("the origin", () => {
  it("none is sent by programs, and passes", () => expect(passes({})).toBe(true));

  it.each([
    ["https://app.example.com", "127.0.0.1:8000"],
    ["http://localhost:5173", "127.0.0.1:8000"],
    ["http://127.0.0.1:8000", "127.0.0.1:8000"],
    ["https://agents.example.com", "cluster-name.localhost"],
  ])("%s may use the server as %s", (origin, host) => {
    expect(passes({ origin, host, "sec-fetch-site": "cross-site" })).toBe(true);
  });

  it.each([
    "https://evil.example",
    "http://app.example.com",
    "https://app.example.com:8443",
    "https://app.example.com.evil.example",
    "http://localhost:3000",
    "http://127.0.0.1:8001",
    "null",
    "",
    "not an origin",
  ])("%s is refused", (origin) => {
    expect(passes({ origin })).toBe(false);
    expect(passes({ origin }, "GET")).toBe(false);
  });

  it("a list that holds no origins stops the start", () => {
    for (const wrong of ["app.example.com", "https://app.example.com/path", "", "https://*.example.com/"]) {
      expect(() => createOriginList([wrong]), wrong).toThrow(expect.objectContaining({ code: "invalid_config" }));
    }
    expect(
      createOriginList(["https://App.example.com/", "chrome-extension://abc"]).has("https://app.example.com"),
    ).toBe(true);
  });
});

describe("a request that a page of another site made", () => {
  const crossSite = { "sec-fetch-site": "cross-site" };
  it("is refused", () => {
    expect(passes(crossSite, "GET")).toBe(false);
    expect(passes({ ...crossSite, "sec-fetch-mode": "no-cors", "sec-fetch-dest": "image" }, "GET")).toBe(false);
    expect(passes({ ...crossSite, "sec-fetch-mode": "navigate", "sec-fetch-dest": "iframe" }, "GET")).toBe(false);
    expect(passes({ ...crossSite, "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" }, "POST")).toBe(false);
  });

  it("passes where a person followed a link, and where the page is of this server", () => {
    expect(passes({ ...crossSite, "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" }, "GET")).toBe(true);
    for (const site of ["same-origin", "none"]) expect(passes({ "sec-fetch-site": site })).toBe(true);
  });
});
