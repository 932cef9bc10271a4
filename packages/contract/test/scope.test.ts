import { describe, expect, it } from "vitest";
import { findScopeKey, MAX_SCOPE_KEYS, MAX_SCOPE_VALUE_LENGTH, Scope, scopeHeader } from "../src/index.ts";
import { refusal } from "./refusal.ts";

describe("Scope", () => {
  it("takes keys and values", () => {
    const scope = { user: "alice", tenant_id: "acme-corp", env2: "Prod / EU" };
    expect(Scope.parse(scope)).toEqual(scope);
    expect(Scope.parse({})).toEqual({});
  });

  it.each([
    ["an empty value", { user: "" }, "scope value must not be empty"],
    ["a long value", { user: "x".repeat(MAX_SCOPE_VALUE_LENGTH + 1) }, "limit of 255 characters"],
    ["an upper case key", { User: "a" }, "lower case"],
    ["a key that a header cannot tell", { a__b: "x" }, "single _"],
    [
      "too many keys",
      Object.fromEntries(Array.from({ length: MAX_SCOPE_KEYS + 1 }, (_, i) => [`k${i}`, "v"])),
      "limit of 16",
    ],
    ["a key that records drop", JSON.parse('{"__proto__": "x"}'), "__proto__"],
  ])("refuses %s", (_, scope, message) => {
    expect(refusal(Scope, scope).message).toContain(message);
  });
});

describe("scope headers", () => {
  it("are named after their key", () => {
    expect(scopeHeader("user")).toBe("X-Cognition-Scope-User");
    expect(scopeHeader("tenant_id")).toBe("X-Cognition-Scope-Tenant-Id");
  });

  it.each(["user", "tenant_id", "a_b_c", "env2"])("give %s back in any case", (key) => {
    expect(findScopeKey(scopeHeader(key))).toBe(key);
    expect(findScopeKey(scopeHeader(key).toUpperCase())).toBe(key);
  });

  it("are told from others", () => {
    expect(findScopeKey("content-type")).toBeUndefined();
  });
});
