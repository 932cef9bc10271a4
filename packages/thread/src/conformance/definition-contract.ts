import { describe, expect, it } from "vitest";
import type { DefinitionStore, StoredDefinition } from "../definition-store.ts";
import type { Storage } from "../storage.ts";
import { LONG_TEXT, ODD_TEXTS } from "./odd-text.ts";
import type { OpenStorage } from "./open-storage-fixture.ts";
import { withStorage } from "./with-storage.ts";

const ann = { user: "ann" };
const define = (name: string, scope: StoredDefinition["scope"] = {}, hash = "1"): StoredDefinition => ({
  name,
  scope,
  hash,
  definition: { name, hash },
});

/** What a back end promises for definitions, of agents and providers alike, and for revisions. */
export function definitionContract(open: OpenStorage): void {
  for (const kind of ["agents", "providers"] as const) describe(kind, () => oneKind(kind, open));
  describe("revisions", () => revisions(open));
}

function oneKind(kind: "agents" | "providers", open: OpenStorage): void {
  const test = (
    name: string,
    body: (
      store: DefinitionStore,
      more: { storage: Storage; reopened(): Promise<Storage>; other: Storage },
    ) => Promise<void>,
  ) =>
    it(
      name,
      withStorage(open, async ({ storage, reopen, second }) => {
        const other = second ? await second() : storage;
        await body(storage[kind], { storage, other, reopened: async () => (reopen ? reopen() : storage) });
      }),
    );

  test("gives back what was put, odd text included, also after closing and opening", async (store, { reopened }) => {
    const texts = [...ODD_TEXTS, LONG_TEXT, "nul \u0000", "\ud800"];
    const odd = { name: "odd % _ ' 漢", scope: { user: 'it\'s "ann" %' }, hash: "h", definition: { texts } };
    expect(await store.putDefinition(odd, null)).toBe(true);
    const after = (await reopened())[kind];
    expect(await after.findDefinition(odd.name, odd.scope)).toEqual(odd);
    expect(await after.listDefinitions([odd.scope])).toEqual([odd]);
  });

  test("keeps each scope to itself, by equality of all keys in any order", async (store) => {
    const both = { user: "ann", project: "p" };
    for (const scope of [{}, ann, both]) expect(await store.putDefinition(define("a", scope), null)).toBe(true);
    expect(await store.findDefinition("a", { project: "p", user: "ann" })).toMatchObject({ scope: both });
    expect(await store.findDefinition("a", { user: "bob" })).toBeNull();
    expect(await store.findDefinition("a", { project: "p" })).toBeNull();
    expect(await store.listDefinitions([ann, { user: "bob" }])).toEqual([define("a", ann)]);
    expect(await store.listDefinitions([])).toEqual([]);
    expect(await store.listDefinitions()).toHaveLength(3);
    expect(await store.deleteDefinition("a", { user: "bob" })).toBe(false);
    expect(await store.deleteDefinition("a", ann)).toBe(true);
    expect(await store.deleteDefinition("a", ann)).toBe(false);
    expect(await store.listDefinitions()).toHaveLength(2);
  });

  test("lists by name, then by scope", async (store) => {
    for (const name of ["b", "a", "B"]) await store.putDefinition(define(name, ann));
    await store.putDefinition(define("a"));
    const listed = (await store.listDefinitions([{}, ann])).map(({ name, scope }) => [name, Object.keys(scope).length]);
    expect(listed.map(([name]) => name)).toEqual(["B", "a", "a", "b"]);
  });

  test("writes only over what the writer has seen", async (store) => {
    expect(await store.putDefinition(define("a"), "0")).toBe(false);
    expect(await store.putDefinition(define("a"), null)).toBe(true);
    expect(await store.putDefinition(define("a", {}, "2"), null)).toBe(false);
    expect(await store.putDefinition(define("a", {}, "2"), "1")).toBe(true);
    expect(await store.putDefinition(define("a", {}, "3"), "1")).toBe(false);
    expect(await store.findDefinition("a", {})).toEqual(define("a", {}, "2"));
    expect(await store.putDefinition(define("a", {}, "4"))).toBe(true);
  });

  test("of many writers on two instances one wins", async (store, { other }) => {
    const writers = Array.from({ length: 12 }, (_, n) => (n % 2 ? store : other[kind]));
    const created = await Promise.all(writers.map((writer, n) => writer.putDefinition(define("a", {}, `${n}`), null)));
    expect(created.filter(Boolean)).toHaveLength(1);
    const { hash } = (await store.findDefinition("a", {})) as StoredDefinition;
    const replaced = await Promise.all(writers.map((w, n) => w.putDefinition(define("a", {}, `again ${n}`), hash)));
    expect(replaced.filter(Boolean)).toHaveLength(1);
  });

  test("counts every change for the other instances, and nothing else", async (store, { other, storage }) => {
    const versions = [await other[kind].definitionVersion()];
    const step = async (work: () => Promise<unknown>) => {
      await work();
      versions.push(await other[kind].definitionVersion());
    };
    await step(() => store.putDefinition(define("a"), null));
    await step(() => store.putDefinition(define("a", {}, "2"), "1"));
    await step(() => store.deleteDefinition("a", {}));
    expect(versions).toEqual([0, 1, 2, 3]);
    await step(() => store.putDefinition(define("a"), "no such hash"));
    await step(() => store.deleteDefinition("a", {}));
    await step(() => storage[kind === "agents" ? "providers" : "agents"].putDefinition(define("a"), null));
    expect(versions.slice(3)).toEqual([3, 3, 3, 3]);
  });
}

function revisions(open: OpenStorage): void {
  it(
    "are kept for ever as they were first saved, whichever scope did",
    withStorage(open, async ({ storage, reopen }) => {
      const agent = { definition: { name: "a", text: ODD_TEXTS }, delegates: {} };
      expect(await storage.revisions.findRevision("r")).toBeNull();
      await storage.revisions.saveRevision({ revision: "r", scope: ann, agent });
      await storage.revisions.saveRevision({ revision: "r", scope: ann, agent: { forged: true } });
      await storage.revisions.saveRevision({ revision: "r", scope: { user: "bob" }, agent });
      const after = reopen ? await reopen() : storage;
      expect(await after.revisions.findRevision("r")).toEqual(agent);
    }),
  );
}
