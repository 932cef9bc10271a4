import { describe, expect, it } from "vitest";
import {
  DEFAULT_MAX_STORE_VALUE_BYTES,
  ListNamespaces,
  PutStoreItem,
  SearchStore,
  StoreItemRef,
} from "../src/index.ts";
import { refusal } from "./refusal.ts";

const item = { namespace: ["users", "a.b:c"], key: "k", value: { theme: "dark" } };

describe("store requests", () => {
  it("take labels with any character", () => {
    expect(PutStoreItem.parse(item)).toEqual(item);
  });

  it("take one label or several from a query", () => {
    expect(StoreItemRef.parse({ namespace: "users", key: "k" }).namespace).toEqual(["users"]);
    expect(StoreItemRef.parse({ namespace: ["users", "a.b"], key: "k" }).namespace).toEqual(["users", "a.b"]);
  });

  it("fill defaults", () => {
    expect(SearchStore.parse({})).toEqual({ namespace_prefix: [], limit: 10, offset: 0 });
    expect(ListNamespaces.parse({})).toEqual({ limit: 100, offset: 0 });
  });

  it.each([
    ["no namespace", { ...item, namespace: [] }, "namespace must not be empty"],
    ["an empty label", { ...item, namespace: [""] }, "namespace label must not be empty"],
    ["too many labels", { ...item, namespace: Array(33).fill("x") }, "limit of 32 labels"],
    ["a long key", { ...item, key: "x".repeat(256) }, "key is longer than the limit of 255"],
    ["a value that is no object", { ...item, value: [1] }, "must be a JSON object"],
    ["unknown fields", { ...item, ttl: 5 }, "ttl"],
  ])("refuse %s", (_, body, message) => {
    expect(refusal(PutStoreItem, body).message).toContain(message);
  });

  it("refuse a value that is too large", () => {
    const error = refusal(PutStoreItem, { ...item, value: { a: "x".repeat(DEFAULT_MAX_STORE_VALUE_BYTES) } });
    expect(error.code).toBe("content_too_large");
  });

  it("take known operators only", () => {
    const filter = { age: { $gte: 18, $lt: 65 }, name: "alice", nested: { a: 1 } };
    expect(SearchStore.parse({ filter }).filter).toEqual(filter);
    expect(refusal(SearchStore, { filter: { age: { $regex: "x" } } }).message).toContain("$eq, $ne");
  });
});
