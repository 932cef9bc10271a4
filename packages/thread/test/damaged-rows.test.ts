import { describe, expect, it } from "vitest";
import type { CheckpointSaver } from "../src/checkpoint/checkpoint-saver.ts";
import { Store } from "../src/checkpoint/store.ts";
import { listed, type Point, put } from "../src/conformance/checkpoint-line.ts";
import type { Database } from "../src/sql/database.ts";
import { placeholders } from "../src/sql/dialect.ts";
import { type OpenDatabase, savers } from "./checkpoint-database.ts";

const UTF8 = new TextEncoder();
const channel = (value: string) => `[4,"2025-01-01T00:00:00Z",{"list":["1",${value}]},{}]`;

/** Readable JSON that is not what is kept there: what is left when something else wrote to the database, or half of a row was. */
const BODIES = [
  "{}",
  "null",
  "[4]",
  '[4,"",{"list":5},{}]',
  '[4,"",{"list":null},{}]',
  '[4,"",{},null]',
  ...[
    '{"$":"nothing known"}',
    '{"$":"bigint","v":"x"}',
    '{"$":"regexp","v":"(","f":""}',
    '{"$":"url","v":"("}',
    '{"$":"error"}',
    '{"$":"message","c":"AIMessage","v":null}',
    '{"$":"bytes","c":"Int32Array","v":"AA=="}',
    '{"$":"list","e":7}',
    '{"$":"piece","p":17}',
  ].map(channel),
];

describe.each(savers)("damaged rows on $name", ({ run }) => {
  const damaged = (table: string, column: string, value: string | Uint8Array, body: Body) =>
    run(async (open) => {
      const first = await put(open.saver, "t", { list: [{ text: "x".repeat(500) }] });
      await open.saver.putWrites(first.config, [["list", [1]]], "task");
      await new Store(open.ctx).put(["notes"], "key", { text: "kept" });
      await write(open.db, `update ${table} set ${column} = ?`, value);
      await body(open.another(), first, open);
    });

  it.each(BODIES)("a checkpoint's body that is %s", (body) =>
    damaged("checkpoints", "body", UTF8.encode(body), expectTold),
  );

  it.each(["nothing", '{"source":{"$":"bigint","v":"x"}}'])("a checkpoint's metadata that are %s", (metadata) =>
    damaged("checkpoints", "metadata", metadata, expectTold),
  );

  it.each(['{"$":"list"}', '{"$":"date"', "{"])("a pending write that is %s", (value) =>
    damaged("checkpoint_writes", "value", UTF8.encode(value), expectTold),
  );

  it.each(["{", '{"$":"bigint","v":"x"}', '{"$":"list","e":{}}'])("a piece that is %s", (value) =>
    damaged("pieces", "value", UTF8.encode(value), expectTold),
  );

  it("an item of the memory store", () =>
    damaged("store_items", "value", "{", async (_, __, { ctx }) => {
      await expect(new Store(ctx).get(["notes"], "key")).rejects.toMatchObject(told("key"));
    }));

  it("a namespace of the memory store", () =>
    damaged("store_items", "namespace", '["notes"', async (_, __, { ctx }) => {
      await expect(new Store(ctx).listNamespaces({})).rejects.toMatchObject(told("notes"));
    }));
});

type Body = (saver: CheckpointSaver, first: Point, open: OpenDatabase) => Promise<void>;

/** Whoever reads is told, by a name that programs can go by; the thread itself can be removed, and another one used. */
async function expectTold(saver: CheckpointSaver): Promise<void> {
  const config = { configurable: { thread_id: "t" } };
  await expect(saver.getTuple(config)).rejects.toMatchObject(told("Thread t"));
  await expect(listed(saver, config)).rejects.toMatchObject(told("Thread t"));
  await put(saver, "another", { n: 1 });
  await saver.deleteThread("t");
  expect(await saver.getTuple(config)).toBeUndefined();
}

function told(what: string) {
  return { code: "corrupt_data", message: expect.stringContaining(what) };
}

async function write(db: Database, sql: string, value: string | Uint8Array): Promise<void> {
  await db.atomic([{ sql: placeholders(db.dialect, sql), params: [value] }]);
}
