import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { LONG_TEXT, ODD_TEXTS } from "./odd-text.ts";
import type { OpenStorage } from "./open-storage-fixture.ts";
import { storeExpiryContract } from "./store-expiry-contract.ts";
import { storeNamespaceContract } from "./store-namespace-contract.ts";
import { storeSearchContract } from "./store-search-contract.ts";
import { storeValueContract } from "./store-value-contract.ts";
import { withStorage } from "./with-storage.ts";

/** The memory that spans threads, as `storage.getStore(scope)` gives it. */
export function storeContract(open: OpenStorage): void {
  itemContract(open);
  batchContract(open);
  storeValueContract(open);
  storeSearchContract(open);
  storeNamespaceContract(open);
  storeExpiryContract(open);
}

function itemContract(open: OpenStorage): void {
  const test = (name: string, body: Parameters<typeof withStorage>[1]) => it(name, withStorage(open, body));

  describe("items", () => {
    test("come back with their address and times, and null where there is none", async ({ storage }) => {
      const store = await storage.getStore();
      await store.put(["users", "ann"], "prefs", { theme: "dark", nested: { list: [1, "two", null, true] } });
      const item = await store.get(["users", "ann"], "prefs");
      expect(item).toMatchObject({
        namespace: ["users", "ann"],
        key: "prefs",
        value: { theme: "dark", nested: { list: [1, "two", null, true] } },
        expiresAt: null,
      });
      expect(item?.createdAt).toBeInstanceOf(Date);
      expect(item?.updatedAt).toEqual(item?.createdAt);
      expect(await store.get(["users", "ann"], "other")).toBeNull();
      expect(await store.get(["users"], "prefs")).toBeNull();
    });

    test("are replaced whole, and keep when they were made", async ({ storage }) => {
      const store = await storage.getStore();
      await store.put(["n"], "k", { a: 1 });
      const before = await store.get(["n"], "k");
      await store.put(["n"], "k", { b: 2 });
      const after = await store.get(["n"], "k");
      expect(after?.value).toEqual({ b: 2 });
      expect(after?.createdAt).toEqual(before?.createdAt);
      expect(after?.updatedAt.getTime()).toBeGreaterThanOrEqual(before?.updatedAt.getTime() ?? Number.NaN);
    });

    test("are deleted once, and deleting nothing is no error", async ({ storage }) => {
      const store = await storage.getStore();
      await store.put(["n"], "k", { a: 1 });
      await store.put(["n"], "l", { a: 1 });
      await store.delete(["n"], "k");
      await store.delete(["n"], "k");
      expect(await store.get(["n"], "k")).toBeNull();
      expect(await store.get(["n"], "l")).not.toBeNull();
    });

    test("of two scopes with the same address are two items", async ({ storage }) => {
      const [ann, bob, none] = [
        await storage.getStore({ user: "ann" }),
        await storage.getStore({ user: "bob" }),
        await storage.getStore(),
      ];
      await ann.put(["n"], "k", { of: "ann" });
      await bob.put(["n"], "k", { of: "bob" });
      expect((await ann.get(["n"], "k"))?.value).toEqual({ of: "ann" });
      expect((await ann.search([])).map(({ value }) => value)).toEqual([{ of: "ann" }]);
      expect((await ann.search([], { query: "bob" })).length).toBe(0);
      expect(await none.get(["n"], "k")).toBeNull();
      expect(await none.search([])).toEqual([]);
      expect(await none.listNamespaces()).toEqual([]);
      await ann.delete(["n"], "k");
      expect((await bob.get(["n"], "k"))?.value).toEqual({ of: "bob" });
    });

    test("keep odd and long text in labels, keys, member names and values", async ({ storage }) => {
      const store = await storage.getStore();
      for (const text of ODD_TEXTS.filter((odd) => odd !== "")) {
        await store.put(["odd", text], text, { [text]: text });
        const item = await store.get(["odd", text], text);
        expect(item).toMatchObject({ namespace: ["odd", text], key: text, value: { [text]: text } });
        expect((await store.search(["odd", text], { filter: { [text]: text } })).length).toBe(1);
      }
      const long = LONG_TEXT.slice(0, 300_000);
      await store.put(["long"], "k", { long, nul: "\0", half: "\ud800" });
      expect((await store.get(["long"], "k"))?.value).toEqual({ long, nul: "\0", half: "\ud800" });
      expect((await store.search(["long"], { filter: { long, nul: "\0" } })).length).toBe(1);
    });

    test("written at the same time all arrive, and one address holds one of them whole", async ({
      storage,
      second,
    }) => {
      const other = second ? await second() : storage;
      const [store, twin] = [await storage.getStore(), await other.getStore()];
      const writes = Array.from({ length: 20 }, (_, n) => [
        (n % 2 ? store : twin).put(["n"], `own ${n}`, { n }),
        (n % 2 ? twin : store).put(["n"], "shared", { n, again: n }),
      ]);
      await Promise.all(writes.flat());
      expect((await store.search(["n"], { limit: 100 })).length).toBe(21);
      const shared = (await twin.get(["n"], "shared"))?.value;
      expect(shared?.["n"]).toBe(shared?.["again"]);
    });

    it("are still there after closing and opening again", async ({ skip }) => {
      await withStorage(open, async ({ storage, reopen }) => {
        if (!reopen) return skip("its data does not outlive the process");
        await (await storage.getStore({ user: "ann" })).put(["n"], "k", { a: 1 });
        const item = await (await (await reopen()).getStore({ user: "ann" })).get(["n"], "k");
        expect(item?.value).toEqual({ a: 1 });
      })();
    });
  });
}

function batchContract(open: OpenStorage): void {
  const test = (name: string, body: Parameters<typeof withStorage>[1]) => it(name, withStorage(open, body));

  describe("a batch", () => {
    test("waits for no other in a circle, in whatever order they write the same items", async ({ storage, second }) => {
      const stores = [await storage.getStore(), await (second ? await second() : storage).getStore()];
      const keys = Array.from({ length: 31 }, (_, n) => `k${n}`);
      const batches = Array.from({ length: 40 }, (_, n) => {
        // Each in a strange order of its own; their number is prime.
        const order = keys.map((_, i) => keys[(i * ((n % 30) + 1) + n) % keys.length] as string);
        const puts = order.map((key) => ({ namespace: ["n"], key, value: { n } }));
        const last = { namespace: ["n"], key: "k0", value: { n, last: true } };
        return stores[n % 2]?.batch([...puts, last, { namespace: ["n"], key: "k1" }]);
      });
      const results = await Promise.all(batches);
      for (const [n, result] of results.entries()) expect(result?.at(-1)).toMatchObject({ key: "k1", value: { n } });
      expect(await stores[0]?.get(["n"], "k0")).toMatchObject({ value: { last: true } });
    });

    test("runs in order, each operation sees those before it, and results stand in place", async ({ storage }) => {
      const store = await storage.getStore();
      const results = await store.batch([
        { namespace: ["n"], key: "k" },
        { namespace: ["n"], key: "k", value: { a: 1 } },
        { namespace: ["n"], key: "k" },
        { namespacePrefix: ["n"], filter: { a: 1 } },
        { namespace: ["n"], key: "k", value: { a: 2 } },
        { namespacePrefix: ["n"], filter: { a: 1 } },
        { matchConditions: [{ matchType: "prefix", path: ["n"] }], limit: 10, offset: 0 },
        { namespace: ["n"], key: "k", value: null },
        { namespace: ["n"], key: "k" },
        { namespacePrefix: [] },
      ]);
      expect(results[0]).toBeNull();
      expect(results[1]).toBeUndefined();
      expect(results[2]).toMatchObject({ value: { a: 1 } });
      expect(results[3]).toMatchObject([{ value: { a: 1 } }]);
      expect(results[5]).toEqual([]);
      expect(results[6]).toEqual([["n"]]);
      expect(results[8]).toBeNull();
      expect(results[9]).toEqual([]);
      expect(results.length).toBe(10);
    });

    test("of nothing gives nothing", async ({ storage }) => {
      expect(await (await storage.getStore()).batch([])).toEqual([]);
    });

    test("changes nothing if one operation is refused", async ({ storage }) => {
      const store = await storage.getStore();
      const refused = store.batch([
        { namespace: ["n"], key: "k", value: { a: 1 } },
        { namespace: ["n"], key: "l", value: { a: 1n } },
      ]);
      await expect(refused).rejects.toMatchObject({ code: "unserializable_value" });
      expect(await store.get(["n"], "k")).toBeNull();
    });

    test("is seen as a whole or not at all", async ({ storage }) => {
      const store = await storage.getStore();
      const addresses = ["a", "b", "c"].map((key) => ({ namespace: ["n"], key }));
      const write = async () => {
        for (let n = 0; n < 20; n++) await store.batch(addresses.map((address) => ({ ...address, value: { n } })));
      };
      const written = write();
      let last: unknown;
      do {
        const items = await store.batch(addresses);
        const seen = new Set(items.map((item) => item?.value["n"]));
        expect(seen.size).toBe(1);
        last = [...seen][0];
        // A back end may answer reads without leaving this turn of the event loop; the writer needs turns too.
        await setImmediate();
      } while (last !== 19);
      await written;
    });
  });
}
