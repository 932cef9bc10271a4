import { describe, expect, it } from "vitest";
import type { OpenStorage } from "./open-storage-fixture.ts";
import { withStorage } from "./with-storage.ts";

const MEGABYTE = 1024 * 1024;

export function storeValueContract(open: OpenStorage): void {
  const test = (name: string, body: Parameters<typeof withStorage>[1]) => it(name, withStorage(open, body));

  describe("a value", () => {
    test("that JSON would alter or drop is refused, naming the place", async ({ storage }) => {
      const store = await storage.getStore();
      const cycle: Record<string, unknown> = {};
      cycle["self"] = { cycle };
      const refused: [unknown, string][] = [
        [{ a: 1n }, "value.a"],
        [{ a: { b: [0, () => 1] } }, "value.a.b[1]"],
        [{ a: Number.NaN }, "value.a"],
        [{ a: Number.POSITIVE_INFINITY }, "value.a"],
        [{ a: new Date(0) }, "value.a"],
        [{ a: new Map() }, "value.a"],
        [{ a: new Uint8Array(1) }, "value.a"],
        [{ a: Symbol("s") }, "value.a"],
        [{ a: undefined }, "value.a"],
        [{ "odd key": [undefined] }, 'value["odd key"][0]'],
        [cycle, "value.self.cycle"],
        [[], "value"],
        ["text", "value"],
        [undefined, "value"],
      ];
      for (const [value, path] of refused) {
        const put = store.put(["n"], "k", value as Record<string, unknown>);
        await expect(put, path).rejects.toMatchObject({ code: "unserializable_value", details: { path } });
      }
      expect(await store.search([])).toEqual([]);
    });

    test("nested too deep is refused, and the same object in two places is no cycle", async ({ storage }) => {
      const store = await storage.getStore();
      let deep: Record<string, unknown> = {};
      for (let n = 0; n < 10_000; n++) deep = { deep };
      await expect(store.put(["n"], "k", deep)).rejects.toMatchObject({ code: "unserializable_value" });
      const shared = { a: 1 };
      await store.put(["n"], "k", { one: shared, two: [shared, shared] });
      expect((await store.get(["n"], "k"))?.value).toEqual({ one: { a: 1 }, two: [{ a: 1 }, { a: 1 }] });
    });

    test("of one megabyte of JSON fits, and one byte more is refused", async ({ storage }) => {
      const store = await storage.getStore();
      const frame = '{"a":""}'.length;
      await store.put(["n"], "k", { a: "x".repeat(MEGABYTE - frame) });
      const larger = store.put(["n"], "k", { a: `é${"x".repeat(MEGABYTE - frame - 1)}` });
      await expect(larger).rejects.toMatchObject({ code: "content_too_large", details: { max: MEGABYTE } });
      expect((await store.get(["n"], "k"))?.value["a"]).toHaveLength(MEGABYTE - frame);
    });

    test("with members that an object has by itself keeps them as data", async ({ storage }) => {
      const store = await storage.getStore();
      const value = JSON.parse('{"__proto__": {"a": 1}, "constructor": 2, "toString": "text"}');
      await store.put(["n"], "k", value);
      const found = (await store.get(["n"], "k"))?.value;
      expect(Object.keys(found ?? {}).sort()).toEqual(["__proto__", "constructor", "toString"]);
      expect((await store.search(["n"], { filter: { hasOwnProperty: 1 } })).length).toBe(0);
    });
  });

  describe("an address", () => {
    test("follows LangGraph's rules, and is refused otherwise", async ({ storage }) => {
      const store = await storage.getStore();
      const refused: [string[], string][] = [
        [[], "k"],
        [["a", ""], "k"],
        [["langgraph"], "k"],
        [["a", 1 as unknown as string], "k"],
        [["a"], ""],
        [["a"], "nul \0"],
        [["a"], "half \ud800"],
      ];
      for (const [namespace, key] of refused) {
        const problem = { code: "validation_failed" };
        await expect(store.put(namespace, key, {}), key).rejects.toMatchObject(problem);
        await expect(store.get(namespace, key), key).rejects.toMatchObject(problem);
        await expect(store.delete(namespace, key), key).rejects.toMatchObject(problem);
      }
    });

    test("too long for an index is refused", async ({ storage }) => {
      const store = await storage.getStore();
      await store.put(["a".repeat(1000), "b".repeat(1000)], "k".repeat(400), { fits: true });
      const put = store.put(["a"], "é".repeat(2000), {});
      await expect(put).rejects.toMatchObject({ code: "limit_exceeded" });
    });
  });
}
