import { describe, expect, it } from "vitest";
import type { Caller } from "../../src/http/guard.ts";
import { scopeOf } from "../../src/http/scope.ts";

const off = { enabled: false, keys: ["user"] };
const on = { enabled: true, keys: ["user", "project_id"] };
const both = { "X-Cognition-Scope-User": "ann", "x-cognition-scope-project-id": "p" };

function read(headers: Record<string, string>, scoping = on, caller: Caller = { admin: false }) {
  return () => scopeOf(Object.entries(headers), caller, scoping);
}

describe("the scope of a request", () => {
  it("is every configured key where scoping is on, and names the headers that are missing", () => {
    expect(read(both)()).toEqual({ user: "ann", project_id: "p" });
    expect(read({ "X-Cognition-Scope-User": "ann" })).toThrow(
      expect.objectContaining({ code: "scope_required", details: { headers: ["X-Cognition-Scope-Project-Id"] } }),
    );
    expect(read({})).toThrow(expect.objectContaining({ code: "scope_required" }));
  });

  it("refuses a key that the server does not separate by, and an empty value", () => {
    expect(read({ ...both, "X-Cognition-Scope-Team": "t" })).toThrow(
      expect.objectContaining({
        code: "validation_failed",
        details: {
          errors: [{ loc: ["header", "X-Cognition-Scope-Team"], msg: expect.stringContaining("user, project_id") }],
        },
      }),
    );
    expect(read({ ...both, "X-Cognition-Scope-User": "" })).toThrow(
      expect.objectContaining({ code: "validation_failed" }),
    );
  });

  it("refuses a key that is sent in two spellings, rather than to choose one", () => {
    for (const scoping of [on, off]) {
      expect(read({ ...both, "X-Cognition-Scope-Project_Id": "q" }, scoping)).toThrow(
        expect.objectContaining({
          code: "validation_failed",
          details: {
            errors: [
              { loc: ["header", "X-Cognition-Scope-Project-Id"], msg: expect.stringContaining("more than once") },
            ],
          },
        }),
      );
    }
  });

  it("refuses a credential that was bound to no scope where scoping is on, unless it is an administrator's", () => {
    expect(read(both, on, { scope: {}, admin: false })).toThrow(expect.objectContaining({ code: "forbidden" }));
    expect(read(both, on, { scope: {}, admin: true })()).toEqual({ user: "ann", project_id: "p" });
    expect(read({}, off, { scope: {}, admin: false })()).toEqual({});
  });

  it("is what was sent where scoping is off, and everything where nothing was", () => {
    expect(read({}, off)()).toBeUndefined();
    expect(read({ "X-Cognition-Scope-Team": "t" }, off)()).toEqual({ team: "t" });
  });

  it("is bound by the credential: it fills what is missing and refuses what contradicts it", () => {
    const caller = { scope: { user: "ann" }, admin: false };
    expect(read({ "X-Cognition-Scope-Project-Id": "p" }, on, caller)()).toEqual({ user: "ann", project_id: "p" });
    expect(read(both, on, caller)()).toEqual({ user: "ann", project_id: "p" });
    expect(read({}, off, caller)()).toEqual({ user: "ann" });
    for (const scoping of [on, off]) {
      expect(read({ ...both, "X-Cognition-Scope-User": "bob" }, scoping, caller)).toThrow(
        expect.objectContaining({ code: "scope_mismatch", details: { headers: ["X-Cognition-Scope-User"] } }),
      );
    }
    const foreign = { scope: { team: "t" }, admin: false };
    expect(read(both, on, foreign)).toThrow(expect.objectContaining({ code: "scope_mismatch" }));
  });
});
