import { isDeepStrictEqual } from "node:util";
import { HumanMessage } from "@langchain/core/messages";
import { describe, expect, it } from "vitest";
import { encodeValue } from "../src/checkpoint/encode.ts";
import type { JsonValue } from "../src/checkpoint/json-value.ts";
import type { ListEntry } from "../src/checkpoint/list-entries.ts";
import { type Destination, PieceEncoder } from "../src/checkpoint/piece-encoder.ts";
import { PieceMemory } from "../src/checkpoint/piece-memory.ts";
import { put, read } from "../src/conformance/checkpoint-line.ts";
import { openStorage } from "../src/open-storage.ts";
import type { Tx } from "../src/sql/statement.ts";
import { countRows, savers } from "./checkpoint-database.ts";

/** How many pieces must be read one after the other to know all elements of a list. */
function depthOf(json: JsonValue, stored: ReadonlyMap<number, JsonValue>): number {
  const { p, e = [] } = json as { p?: number; e?: ListEntry[] };
  const names = p === undefined ? e.filter((entry) => typeof entry === "number") : [p];
  return Math.max(0, ...names.map((name) => 1 + depthOf(stored.get(name) as JsonValue, stored)));
}

const EDITS: ((list: unknown[]) => void)[] = [
  (list) => list.push("at the end"),
  (list) => list.unshift("at the beginning"),
  (list) => list.shift(),
  (list) => list.splice(5_000, 1, "in the middle"),
  (list) => list.splice(3_000, 100),
  (list) => list.splice(7_000, 0, 1, 2.5, null),
];

const LONG = "long enough to be stored on its own ".repeat(10);

function messages(count: number): HumanMessage[] {
  return Array.from({ length: count }, (_, n) => new HumanMessage({ id: `${n}`, content: `${n} ${LONG}` }));
}

describe.each(savers)("pieces on $name", ({ run }) => {
  it("of a lineage go when the last thread that names them does, not before", () =>
    run(async ({ db, saver }) => {
      const list = messages(10);
      const first = await put(saver, "parent", { list });
      await saver.copyThread("parent", "child");
      await put(saver, first, { list: [...list, ...messages(1)] });
      const child = await put(saver, "child", { list: [...list, new HumanMessage({ id: "c", content: LONG })] });
      const before = await countRows(db, "pieces");
      await saver.deleteThread("child");
      expect(await countRows(db, "pieces")).toBeLessThan(before);
      expect(await countRows(db, "pieces")).toBeGreaterThanOrEqual(10);
      await saver.deleteThread("parent");
      for (const table of ["pieces", "checkpoints", "checkpoint_writes"] as const)
        expect(await countRows(db, table)).toBe(0);
      await expect(put(saver, child, { list })).rejects.toMatchObject({ code: "thread_deleted" });
      expect(await countRows(db, "pieces")).toBe(0);
    }));

  it("that nothing names any more go with a prune; those that only a write or a long list's end names stay", () =>
    run(async ({ db, saver, another }) => {
      const list: object[] = messages(5);
      let at = await put(saver, "t", { list, gone: messages(20).map(({ id }) => ({ id, text: LONG })) });
      at = await put(saver, at, { list, gone: [] });
      // Many edits: the names of its elements no longer fit into the list's own encoding.
      for (let n = 0; n < 300; n++) list.splice((n * 7) % (list.length + 1), 0, { n, text: LONG });
      at = await put(saver, at, { list, gone: [] });
      await saver.putWrites(at.config, [["list", [{ written: LONG }]]], "task");
      const before = await countRows(db, "pieces");
      const { pieces } = await saver.prune({ thread_id: "t" });
      expect(pieces).toBeGreaterThanOrEqual(20);
      expect(await countRows(db, "pieces")).toBe(before - pieces);
      const tuple = await another().getTuple(at.config);
      expect(tuple?.checkpoint.channel_values["list"]).toHaveLength(305);
      expect(tuple?.pendingWrites).toEqual([["task", "list", [{ written: LONG }]]]);
    }));

  it("are shared by a state that was copied on its way, and after a reload", () =>
    run(async ({ db, saver, another }) => {
      const list = Array.from({ length: 100 }, (_, n) => ({ n, text: LONG }));
      let at = await put(saver, "t", { list });
      const before = await countRows(db, "pieces");
      for (let n = 0; n < 5; n++) at = await put(saver, at, { list: structuredClone(list) });
      expect(await countRows(db, "pieces")).toBe(before);
      const other = another();
      const held = (await other.getTuple(at.config))?.checkpoint.channel_values["list"] as object[];
      at = await put(other, at, { list: [...held, { new: LONG }] });
      expect(await countRows(db, "pieces")).toBe(before + 1);
      expect(await read(saver, at)).toEqual({ list: [...list, { new: LONG }] });
    }));

  it("that are texts, or only name others, are known after a reload", () =>
    run(async ({ db, saver, another }) => {
      const list: unknown[] = Array.from({ length: 1_000 }, (_, n) => (n % 2 === 0 ? n - 500 : `text ${n}`));
      list.push(-0, Number.NaN, 2n, true, null, undefined);
      const texts = Array.from({ length: 20 }, (_, n) => `${n} ${LONG.repeat(3)}`);
      const files = Object.fromEntries(texts.map((text, n) => [n, text]));
      let at = await put(saver, "t", { list, texts, files });
      const before = await countRows(db, "pieces");
      expect(before).toBeGreaterThan(30);
      const other = another();
      const held = (await other.getTuple(at.config))?.checkpoint.channel_values as { list: unknown[] };
      const next = { ...held, list: [...held.list, "more"] };
      at = await put(other, at, next);
      expect((await countRows(db, "pieces")) - before).toBeLessThanOrEqual(2);
      expect(await read(saver, at)).toEqual({ list: [...list, "more"], texts, files });
    }));

  it("a read whose checkpoint is pruned under its hands gives the thread as it is then", () => {
    let interfere: (() => Promise<unknown>) | undefined;
    return run(
      async ({ saver, another }) => {
        const first = await put(saver, "t", { list: messages(5) });
        const other = another();
        // Between the read of the checkpoint and the read of what it names.
        interfere = async () => {
          interfere = undefined;
          await put(other, first, { list: [{ n: 1, text: LONG }] });
          await other.prune({ thread_id: "t" });
        };
        const reader = another();
        expect(await read(reader, "t")).toEqual({ list: [{ n: 1, text: LONG }] });
        expect(await read(reader, first)).toBeUndefined();
      },
      (db) => ({
        ...db,
        readAll: async (statements) => {
          if (interfere && statements.some(({ sql }) => sql.includes("from pieces"))) await interfere();
          return db.readAll(statements);
        },
      }),
    );
  });

  it("a prune of many checkpoints is a few statements, and leaves the tree whole", () => {
    let statements = 0;
    function* counted<T>(steps: Tx<T>): Tx<T> {
      let step = steps.next();
      while (!step.done) {
        statements += step.value.length;
        step = steps.next(yield step.value);
      }
      return step.value;
    }
    return run(
      async ({ saver, another }) => {
        const list: object[] = [];
        let at = await put(saver, "t", { list });
        for (let n = 0; n < 600; n++) {
          list.push({ n });
          at = await put(saver, at, { list: [...list] });
          if (n % 2 === 0) await saver.putWrites(at.config, [["list", [{ written: n }]]], "task");
        }
        statements = 0;
        expect(await saver.prune({ thread_id: "t", keep_last: 3 })).toMatchObject({ checkpoints: 598 });
        expect(statements).toBeLessThan(30);
        const left: unknown[] = [];
        for await (const { checkpoint, parentConfig } of another().list({ configurable: { thread_id: "t" } }))
          left.push([(checkpoint.channel_values["list"] as unknown[]).length, parentConfig !== undefined]);
        expect(left).toEqual([
          [600, true],
          [599, true],
          [598, false],
        ]);
      },
      (db) => ({ ...db, transaction: (body) => db.transaction(() => counted(body())) }),
    );
  });

  it("a thread's time starts anew with every write where the saver has one", () =>
    run(async ({ db, another }) => {
      const saver = another({ ttl_ms: 1_000_000 });
      const expiry = async () => (await db.read(db.q.selectFrom("threads").select("expires_at")))[0]?.expires_at ?? 0;
      const first = await put(saver, "t", { n: 1 });
      const set = await expiry();
      expect(set).toBeGreaterThan(0);
      await saver.setThreadTtl("t", 0);
      expect(await expiry()).toBeLessThan(set);
      await saver.putWrites(first.config, [["n", 2]], "task");
      expect(await expiry()).toBeGreaterThanOrEqual(set);
      expect(await saver.sweepExpired()).toEqual([]);
    }));
});

describe("a state of very many objects", () => {
  it("is stored and read", { tags: "long" }, async () => {
    const storage = await openStorage("memory");
    const saver = await storage.getCheckpointer();
    const list = Array.from({ length: 130_000 }, (_, n) => ({ n }));
    const wide = Object.fromEntries(list.map(({ n }) => [`key ${n}`, 1]));
    const at = await put(saver, "t", { list, inside: [{ wide }] });
    // Vitest's own comparison takes many times as long.
    expect(isDeepStrictEqual(await read(saver, at), { list, inside: [{ wide }] })).toBe(true);
    await storage.close();
  });
});

describe("the encoding of a list", () => {
  const to: Destination = { where: "test", ns: "", channel: "list", settled: true };

  it("names neighbours as one run, however often the list is written", () => {
    const memory = new PieceMemory();
    const list: object[] = [];
    const sizes: number[] = [];
    for (let n = 0; n < 500; n++) {
      list.push({ n, text: LONG });
      const encoder = new PieceEncoder(memory);
      sizes.push(JSON.stringify(encoder.encodeChannel(list, to)).length);
      expect(encoder.pieces).toHaveLength(1);
      encoder.memory.mergeInto(memory);
    }
    expect(Math.max(...sizes)).toBeLessThan(100);
  });

  it("that has no neighbours is few reads deep, and a longer one writes what is new", () => {
    const memory = new PieceMemory();
    const stored = new Map<number, JsonValue>();
    const list: unknown[] = Array.from({ length: 10_000 }, (_, n) => (n % 3 === 0 ? "every third" : `text ${n}`));
    const write = () => {
      const encoder = new PieceEncoder(memory);
      const json = encoder.encodeChannel(list, to);
      for (const { id, value } of encoder.pieces) stored.set(id, JSON.parse(new TextDecoder().decode(value)));
      encoder.memory.mergeInto(memory);
      return { json, bytes: encoder.pieces.reduce((sum, { value }) => sum + value.length, 0) };
    };
    const first = write();
    expect(depthOf(first.json, stored)).toBeLessThanOrEqual(4);
    expect(first.bytes).toBeGreaterThan(100_000);
    for (const edit of EDITS) {
      edit(list);
      expect(write().bytes, String(edit)).toBeLessThan(12_000);
    }
  });

  it("stores an object that was changed anew, as it is now", () => {
    const memory = new PieceMemory();
    const shared = { a: { b: { c: 3, d: [1, 2] } } };
    const first = new PieceEncoder(memory);
    first.encodeChannel([shared], to);
    first.memory.mergeInto(memory);
    shared.a.b.c = 4;
    const second = new PieceEncoder(memory);
    second.encodeChannel([shared], to);
    const written = second.pieces.map(({ value }) => JSON.parse(new TextDecoder().decode(value)));
    expect(written).toEqual([encodeValue(shared, "test")]);
  });
});
