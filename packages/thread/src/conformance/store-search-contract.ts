import { describe, expect, it } from "vitest";
import type { OpenStorage } from "./open-storage-fixture.ts";
import { withStorage } from "./with-storage.ts";

type Store = Awaited<ReturnType<Awaited<ReturnType<OpenStorage>>["storage"]["getStore"]>>;
type SearchOptions = NonNullable<Parameters<Store["search"]>[1]>;

async function keys(store: Store, prefix: string[], options: SearchOptions = {}): Promise<string[]> {
  return (await store.search(prefix, options)).map(({ key }) => key);
}

export function storeSearchContract(open: OpenStorage): void {
  const test = (name: string, body: Parameters<typeof withStorage>[1]) => it(name, withStorage(open, body));

  describe("search", () => {
    test("matches a prefix label by label", async ({ storage }) => {
      const store = await storage.getStore();
      const namespaces = [
        ["tenant", "acme"],
        ["tenant", "acme", "eu"],
        ["tenant", "acme-corp"],
        ["tenant", "acme!"],
        ["tenant", "acm"],
        ["tenant:acme"],
        ["tenant"],
        ["a", "b:c"],
        ["a", "b", "c"],
        ["a", 'b","c'],
        ["a%", "b"],
        ["a_", "b"],
        ["a\\", "b"],
        ["a.b", "c"],
      ];
      for (const namespace of namespaces) await store.put(namespace, JSON.stringify(namespace), { n: 1 });
      const found = async (prefix: string[]) => {
        const plain = await keys(store, prefix, { limit: 100 });
        expect(await keys(store, prefix, { limit: 100, filter: { n: 1 } })).toEqual(plain);
        return plain;
      };
      expect(await found(["tenant", "acme"])).toEqual(['["tenant","acme","eu"]', '["tenant","acme"]']);
      expect(await found(["a", "b"])).toEqual(['["a","b","c"]']);
      expect(await found(["a", "b:c"])).toEqual(['["a","b:c"]']);
      expect(await found(["a", 'b","c'])).toEqual([JSON.stringify(["a", 'b","c'])]);
      expect(await found(["a_"])).toEqual(['["a_","b"]']);
      expect(await found(["a%"])).toEqual(['["a%","b"]']);
      expect(await found(["a.b"])).toEqual(['["a.b","c"]']);
      expect(await found(["a"])).toHaveLength(3);
      expect(await found(["tenant"])).toHaveLength(6);
      expect(await found([])).toHaveLength(namespaces.length);
    });

    test("gives ten unless told, in one order, and pages that fit together", async ({ storage }) => {
      const store = await storage.getStore();
      const all = Array.from({ length: 250 }, (_, n) => `k${String(n).padStart(3, "0")}`);
      const puts = all.map((key, n) => ({ namespace: ["n", `${n % 2}`], key, value: { even: n % 2 === 0, n } }));
      await store.batch(puts.toReversed());
      expect(await keys(store, ["n"])).toHaveLength(10);
      const evens = all.filter((_, n) => n % 2 === 0);
      for (const filter of [undefined, { even: true }]) {
        const expected = filter ? evens : [...evens, ...all.filter((_, n) => n % 2 === 1)];
        const pages: string[] = [];
        for (let offset = 0; offset <= 300; offset += 60) {
          pages.push(...(await keys(store, ["n"], { limit: 60, offset, ...(filter && { filter }) })));
        }
        expect(pages).toEqual(expected);
      }
      expect(await keys(store, ["n"], { limit: 0 })).toEqual([]);
      expect(await keys(store, ["n"], { offset: 250, filter: { even: true } })).toEqual([]);
      // The last match stands behind more items than a back end may look at in one go.
      expect(await keys(store, ["n"], { filter: { n: 249 } })).toEqual(["k249"]);
      expect(await keys(store, ["n"], { filter: { n: { $gte: 247 } }, limit: 1, offset: 1 })).toEqual(["k247"]);
    });

    test("refuses limits, offsets and operators that mean nothing", async ({ storage }) => {
      const store = await storage.getStore();
      const refused: SearchOptions[] = [
        { limit: -1 },
        { limit: 1.5 },
        { offset: -1 },
        { limit: Number.NaN },
        { filter: { a: { $near: 1 } } },
        { filter: { a: { $gt: 1, plain: 2 } } },
      ];
      for (const options of refused) {
        await expect(store.search([], options)).rejects.toMatchObject({ code: "validation_failed" });
      }
      const forgotten = store.search([], { filter: { user: undefined } });
      await expect(forgotten).rejects.toMatchObject({ code: "unserializable_value", details: { path: "filter.user" } });
    });
  });

  describe("a filter", () => {
    test("compares by value and by operators", async ({ storage }) => {
      const store = await storage.getStore();
      const items: Record<string, Record<string, unknown>> = {
        a: { n: 1, s: "active", flag: true, nested: { x: [1, { y: 2 }] } },
        b: { n: 2, s: "Active", flag: false, nested: { x: [1, { y: 3 }] } },
        c: { n: 10, s: "100%", flag: null, deeper: { s: "active" } },
        d: { n: "10", s: "2026-01-01" },
      };
      for (const [key, value] of Object.entries(items)) await store.put(["f"], key, value);
      const cases: [Record<string, unknown>, string][] = [
        [{}, "abcd"],
        [{ s: "active" }, "a"],
        [{ s: "100%" }, "c"],
        [{ s: "1%" }, ""],
        [{ s: "a_tive" }, ""],
        [{ n: 10 }, "c"],
        [{ n: "10" }, "d"],
        [{ n: 1, s: "active" }, "a"],
        [{ n: 1, s: "Active" }, ""],
        [{ flag: null }, "c"],
        [{ flag: false }, "b"],
        [{ nested: { x: [1, { y: 2 }] } }, "a"],
        [{ nested: { x: [1] } }, ""],
        [{ nested: {} }, ""],
        [{ s: { $eq: "active" } }, "a"],
        [{ s: { $ne: "active" } }, "bcd"],
        [{ flag: { $ne: true } }, "bcd"],
        [{ n: { $gt: 1 } }, "bc"],
        [{ n: { $gte: 1, $lt: 10 } }, "ab"],
        [{ n: { $lte: 2 } }, "ab"],
        [{ s: { $gte: "2026" } }, "abd"],
        [{ missing: { $lt: 5 } }, ""],
        [{ nested: { $eq: { x: [1, { y: 3 }] } } }, "b"],
      ];
      for (const [filter, expected] of cases) {
        expect((await keys(store, ["f"], { filter })).join(""), JSON.stringify(filter)).toBe(expected);
      }
    });

    test("for longer text than a pattern may have still finds it", async ({ storage }) => {
      const store = await storage.getStore();
      const long = "%_\\ ".repeat(20_000);
      await store.put(["n"], "k", { long });
      await store.put(["n"], "l", { long: `${long}.` });
      expect(await keys(store, ["n"], { filter: { long } })).toEqual(["k"]);
    });
  });

  describe("a query", () => {
    test("finds words in any case and depth, the best first, and pages", async ({ storage }) => {
      const store = await storage.getStore();
      await store.put(["m"], "a", { text: "Ann likes PIZZA and pasta" });
      await store.put(["m"], "b", { notes: [{ text: "pizza on Fridays" }] });
      await store.put(["m"], "c", { text: "Tea, no sugar", pizza: 1 });
      await store.put(["m"], "d", { text: "Die STRASSE, ÉCOLE, Ａｂｃ" });
      const found = await store.search(["m"], { query: "pizza, ann!" });
      expect(found.map(({ key, score }) => [key, score])).toEqual([
        ["a", 1],
        ["b", 0.5],
      ]);
      expect(await keys(store, ["m"], { query: "école" })).toEqual(["d"]);
      expect(await keys(store, ["m"], { query: "abc" })).toEqual(["d"]);
      expect(await keys(store, ["m"], { query: "pizza ann", limit: 1, offset: 1 })).toEqual(["b"]);
      expect(await keys(store, ["m"], { query: "coffee" })).toEqual([]);
      expect(await keys(store, ["m"], { query: "?!" })).toHaveLength(4);
      expect(await keys(store, ["m"], { query: "pizza", filter: { text: "Tea, no sugar" } })).toEqual([]);
    });
  });
}
