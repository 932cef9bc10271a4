import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Store } from "../src/checkpoint/store.ts";
import { openStorage } from "../src/open-storage.ts";
import { type SqlContext, systemContext } from "../src/sql/context.ts";
import { databases, type TestedDatabase } from "./databases.ts";

const MS = 1 / 60_000;
const DEADLINE = { timeout: 50_000, interval: 5 };

describe.each(databases)("a store with options on $name", ({ create }) => {
  let database: TestedDatabase;
  let ctx: SqlContext;

  beforeEach(async () => {
    database = await create();
    ctx = systemContext(database.open());
  });

  afterEach(async () => {
    await ctx.db.close();
    await database.remove();
  });

  it("measures time by the database's clock, whatever this node's says", async () => {
    for (const now of ["1990-01-01T00:00:00.000Z", "2190-01-01T00:00:00.000Z"]) {
      const store = new Store({ ...ctx, now: () => now });
      await store.put(["n"], "short", { a: 1 }, undefined, { ttl: MS });
      await store.put(["n"], "long", { a: 1 }, undefined, { ttl: 60 });
      await vi.waitFor(async () => expect(await store.get(["n"], "short", { refreshTtl: false })).toBeNull(), DEADLINE);
      expect((await store.get(["n"], "long"))?.createdAt).toEqual(new Date("1990-01-01T00:00:00.000Z"));
    }
  });

  it("gives items its own ttl where they have none", async () => {
    const store = new Store(ctx, {}, { ttl: { defaultTtl: MS } });
    await store.put(["n"], "default", { a: 1 });
    await store.put(["n"], "own", { a: 1 }, undefined, { ttl: 60 });
    await store.put(["n"], "never", { a: 1 }, undefined, { ttl: null });
    await vi.waitFor(async () => {
      const found = await store.search([], { refreshTtl: false });
      expect(found.map(({ key, expiresAt }) => [key, expiresAt !== null])).toEqual([
        ["never", false],
        ["own", true],
      ]);
    }, DEADLINE);
    expect(() => new Store(ctx, {}, { ttl: { defaultTtl: -1 } })).toThrow(/ttl is in minutes/);
  });

  it("leaves times alone on reads if it is told to, except where a read asks", async () => {
    const store = new Store(ctx, {}, { ttl: { refreshOnRead: false } });
    await store.put(["n"], "k", { a: 1 }, undefined, { ttl: 60 });
    const expiry = async () => (await store.get(["n"], "k"))?.expiresAt?.getTime() ?? 0;
    const first = await expiry();
    await vi.waitFor(() => expect(Date.now() + 60 * 60_000).toBeGreaterThan(first + 5), DEADLINE);
    await store.search(["n"]);
    expect(await expiry()).toBe(first);
    await store.get(["n"], "k", { refreshTtl: true });
    expect(await expiry()).toBeGreaterThan(first);
  });

  it("takes values up to its own limit", async () => {
    const store = new Store(ctx, {}, { maxValueBytes: 11 });
    await store.put(["n"], "k", { a: "123" });
    await expect(store.put(["n"], "k", { a: "1234" })).rejects.toMatchObject({ code: "content_too_large" });
  });

  it("reads without a transaction, and a batch of reads in one round trip", async () => {
    const store = new Store(ctx);
    await store.put(["n"], "k", { a: 1 });
    const [transaction, atomic, readAll] = (["transaction", "atomic", "readAll"] as const).map((name) =>
      vi.spyOn(ctx.db, name),
    );
    await store.batch([
      { namespace: ["n"], key: "k" },
      { namespace: ["n"], key: "l" },
    ]);
    expect(readAll).toHaveBeenCalledTimes(1);
    expect(transaction).not.toHaveBeenCalled();
    expect(atomic).not.toHaveBeenCalled();
  });
});

it("a batch has any number of operations", async () => {
  const storage = await openStorage("memory");
  const store = await storage.getStore();
  await store.put(["n"], "k", { a: 1 });
  const items = await store.batch(Array.from({ length: 130_000 }, () => ({ namespace: ["n"], key: "k" })));
  expect(items).toHaveLength(130_000);
  await storage.close();
});

it("a search through many items lets others work meanwhile", async () => {
  const storage = await openStorage("memory");
  const store = await storage.getStore();
  await store.batch(
    Array.from({ length: 1000 }, (_, n) => ({ namespace: ["n"], key: `${n}`, value: { text: `item ${n}` } })),
  );
  let turns = 0;
  let ended = false;
  const work = () => {
    turns++;
    if (!ended) setImmediate(work);
  };
  setImmediate(work);
  const found = await store.search(["n"], { query: "item", limit: 1 });
  ended = true;
  expect(found).toHaveLength(1);
  expect(turns).toBeGreaterThan(5);
  await storage.close();
});
