import { describe, expect, it, vi } from "vitest";
import type { OpenStorage } from "./open-storage-fixture.ts";
import { withStorage } from "./with-storage.ts";

/** TTLs are in minutes. */
const MS = 1 / 60_000;
const LONG = 60;

const DEADLINE = { timeout: 50_000, interval: 5 };

export function storeExpiryContract(open: OpenStorage): void {
  const test = (name: string, body: Parameters<typeof withStorage>[1]) => it(name, withStorage(open, body));

  describe("an item with a ttl", () => {
    test("is gone for every read when its time is over, and a new one starts afresh", async ({ storage }) => {
      const store = await storage.getStore();
      await store.put(["n"], "short", { a: "word" }, undefined, { ttl: MS });
      await store.put(["n"], "long", { a: "word" }, undefined, { ttl: LONG });
      await store.put(["n"], "ever", { a: "word" }, false, { ttl: null });
      await store.put(["gone"], "short", { a: "word" }, undefined, { ttl: MS });
      await vi.waitFor(
        async () => expect(await store.get(["gone"], "short", { refreshTtl: false })).toBeNull(),
        DEADLINE,
      );
      expect(await store.get(["n"], "short")).toBeNull();
      for (const options of [{}, { filter: { a: "word" } }, { query: "word" }]) {
        expect((await store.search([], options)).map(({ key }) => key)).toEqual(["ever", "long"]);
      }
      expect(await store.listNamespaces()).toEqual([["n"]]);
      expect(await store.listNamespaces({ suffix: ["gone"] })).toEqual([]);
      const before = (await store.get(["n"], "ever"))?.createdAt.getTime() ?? Number.NaN;
      await vi.waitFor(() => expect(Date.now()).toBeGreaterThan(before), DEADLINE);
      await store.put(["n"], "short", { a: "again" });
      const again = await store.get(["n"], "short");
      expect(again).toMatchObject({ value: { a: "again" }, expiresAt: null });
      expect(again?.createdAt).toEqual(again?.updatedAt);
      expect(again?.createdAt.getTime()).toBeGreaterThan(before);
    });

    test("stays once it is put without one", async ({ storage }) => {
      const store = await storage.getStore();
      await store.put(["n"], "k", { a: 1 }, undefined, { ttl: LONG });
      expect((await store.get(["n"], "k"))?.expiresAt).toBeInstanceOf(Date);
      await store.put(["n"], "k", { a: 1 });
      expect((await store.get(["n"], "k"))?.expiresAt).toBeNull();
    });

    test("starts its time anew when it is read, unless told not to", async ({ storage }) => {
      const store = await storage.getStore();
      await store.put(["n"], "k", { a: 1 }, undefined, { ttl: LONG });
      const expiry = async () => (await store.get(["n"], "k", { refreshTtl: false }))?.expiresAt?.getTime() ?? 0;
      const first = await expiry();
      expect(first - Date.now()).toBeGreaterThan((LONG - 1) * 60_000);
      const later = Date.now() + 2;
      await vi.waitFor(async () => {
        expect(await expiry()).toBe(first);
        expect(Date.now()).toBeGreaterThan(later);
      }, DEADLINE);
      const reads = [
        () => store.get(["n"], "k"),
        () => store.search(["n"]),
        () => store.search(["n"], { filter: { a: 1 } }),
        () =>
          store.batch([
            { namespace: ["n"], key: "other", value: { a: 2 } },
            { namespace: ["n"], key: "k" },
          ]),
      ];
      for (const read of reads) {
        const before = await expiry();
        await vi.waitFor(async () => {
          await read();
          expect(await expiry()).toBeGreaterThan(before);
        }, DEADLINE);
      }
    });

    test("leaves nothing behind after a sweep, which takes nothing else", async ({ storage }) => {
      const [store, other] = [await storage.getStore({ user: "ann" }), await storage.getStore({ user: "bob" })];
      await store.put(["n"], "short", { a: 1 }, undefined, { ttl: MS });
      await store.put(["n"], "shorter", { a: 1 }, undefined, { ttl: MS });
      await store.put(["n"], "long", { a: 1 }, undefined, { ttl: LONG });
      await store.put(["n"], "ever", { a: 1 });
      await vi.waitFor(async () => expect(await store.search(["n"])).toHaveLength(2), DEADLINE);
      expect(await storage.expiredStores()).toEqual([{ user: "ann" }]);
      expect(await other.sweepExpired()).toBe(0);
      expect(await store.sweepExpired()).toBe(2);
      expect(await store.sweepExpired()).toBe(0);
      expect(await storage.expiredStores()).toEqual([]);
      expect(await store.search(["n"])).toHaveLength(2);
    });

    test("of no length, or none that can be told, is refused", async ({ storage }) => {
      const store = await storage.getStore();
      for (const ttl of [0, -1, Number.NaN, Number.POSITIVE_INFINITY, "5" as unknown as number]) {
        const put = store.put(["n"], "k", {}, undefined, { ttl });
        await expect(put, String(ttl)).rejects.toMatchObject({ code: "validation_failed" });
      }
      expect(await store.get(["n"], "k")).toBeNull();
    });
  });
}
