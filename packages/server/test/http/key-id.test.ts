import { expect, it } from "vitest";
import { type KeyOfRequest, keyId } from "../../src/http/key-id.ts";

const REQUEST: KeyOfRequest = {
  key: "k",
  hash: "h",
  scope: { org: "o", user: "ann" },
  since: "2030-01-01T00:00:00.000Z",
};

it("is the same for the same request, in whatever order its scope was given", () => {
  const id = keyId(REQUEST);
  expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(keyId({ ...REQUEST, scope: { user: "ann", org: "o" } })).toBe(id);
});

it("is another one for another scope, key, body or time: two tenants use one key in the same millisecond", () => {
  const others: Partial<KeyOfRequest>[] = [
    { scope: { org: "o", user: "ben" } },
    { scope: undefined },
    { key: "l" },
    { hash: "i" },
    { since: "2030-01-01T00:00:00.001Z" },
  ];
  const ids = [REQUEST, ...others.map((other) => ({ ...REQUEST, ...other }))].map(keyId);
  expect(new Set(ids).size).toBe(ids.length);
});
