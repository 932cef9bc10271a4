import { describe, expect, it } from "vitest";
import type { OpenStorage } from "./open-storage-fixture.ts";
import { withStorage } from "./with-storage.ts";

export function storeNamespaceContract(open: OpenStorage): void {
  const test = (name: string, body: Parameters<typeof withStorage>[1]) => it(name, withStorage(open, body));

  describe("listNamespaces", () => {
    const namespaces = [
      ["docs", "ann", "drafts"],
      ["docs", "ann", "final"],
      ["docs", "bob", "drafts"],
      ["docs"],
      ["docs-old", "ann"],
      ["users", "ann"],
      ["users", "a.b:c"],
    ];

    async function filled(open: OpenStorage, body: (store: Store) => Promise<void>): Promise<void> {
      await withStorage(open, async ({ storage }) => {
        const store = await storage.getStore();
        for (const namespace of namespaces) {
          await store.batch(["k", "l"].map((key) => ({ namespace, key, value: { a: 1 } })));
        }
        await body(store);
      })();
    }

    it("gives each once, in one order, and pages that fit together", () =>
      filled(open, async (store) => {
        const all = await store.listNamespaces();
        expect(sorted(all)).toEqual(sorted(namespaces));
        const paged = [];
        for (let offset = 0; offset < 9; offset += 3) paged.push(...(await store.listNamespaces({ limit: 3, offset })));
        expect(paged).toEqual(all);
        const cut = await store.listNamespaces({ maxDepth: 2 });
        expect(await store.listNamespaces({ maxDepth: 2, limit: 2, offset: 1 })).toEqual(cut.slice(1, 3));
        expect(await store.listNamespaces({ limit: 0 })).toEqual([]);
      }));

    it("matches prefix and suffix label by label, with wildcards, and cuts to a depth", () =>
      filled(open, async (store) => {
        const cases: [NonNullable<Parameters<Store["listNamespaces"]>[0]>, string[][]][] = [
          [{ prefix: ["docs"] }, namespaces.slice(0, 4)],
          [{ prefix: ["docs", "ann"] }, namespaces.slice(0, 2)],
          [{ prefix: ["doc"] }, []],
          [{ prefix: ["docs", "*", "drafts"] }, [namespaces[0], namespaces[2]] as string[][]],
          [{ prefix: ["*", "ann"] }, [...namespaces.slice(0, 2), ...namespaces.slice(4, 6)]],
          [{ suffix: ["ann"] }, namespaces.slice(4, 6)],
          [{ suffix: ["*", "drafts"] }, [namespaces[0], namespaces[2]] as string[][]],
          [{ prefix: ["docs"], suffix: ["final"] }, [namespaces[1]] as string[][]],
          [{ suffix: ["a.b:c"] }, [namespaces[6]] as string[][]],
          [{ prefix: ["docs"], maxDepth: 2 }, [["docs", "ann"], ["docs", "bob"], ["docs"]]],
          [{ maxDepth: 1 }, [["docs"], ["docs-old"], ["users"]]],
        ];
        for (const [options, expected] of cases) {
          expect(sorted(await store.listNamespaces(options)), JSON.stringify(options)).toEqual(sorted(expected));
        }
      }));

    test("forgets a namespace with its last item", async ({ storage }) => {
      const store = await storage.getStore();
      await store.put(["n"], "k", {});
      await store.delete(["n"], "k");
      expect(await store.listNamespaces()).toEqual([]);
    });

    test("refuses what is no page and no pattern", async ({ storage }) => {
      const store = await storage.getStore();
      const refused = [{ limit: -1 }, { offset: 0.5 }, { maxDepth: 0 }, { prefix: [1 as unknown as string] }];
      for (const options of refused) {
        await expect(store.listNamespaces(options)).rejects.toMatchObject({ code: "validation_failed" });
      }
    });
  });
}

type Store = Awaited<ReturnType<Awaited<ReturnType<OpenStorage>>["storage"]["getStore"]>>;

function sorted(namespaces: readonly (readonly string[])[]): string[] {
  return namespaces.map((namespace) => JSON.stringify(namespace)).sort();
}
