import { describe, expect, it } from "vitest";
import { CheckpointSaver } from "../src/checkpoint/checkpoint-saver.ts";
import { Store } from "../src/checkpoint/store.ts";
import { listed, type Point, put } from "../src/conformance/checkpoint-line.ts";
import { finishRunWithDelivery } from "../src/conformance/finished-run.ts";
import { endOf, startRun, token, upTo } from "../src/conformance/started-run.ts";
import { openStorage } from "../src/open-storage.ts";
import type { Lease } from "../src/run-store.ts";
import type { Database } from "../src/sql/database.ts";
import { placeholders } from "../src/sql/dialect.ts";
import type { Storage } from "../src/storage.ts";
import { type OpenDatabase, savers } from "./checkpoint-database.ts";
import { databases } from "./databases.ts";

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

  it("keep no other thread from being pruned or swept", () =>
    run(async ({ db, ctx, saver, another }) => {
      const values = { list: [{ text: "x".repeat(500) }] };
      for (const id of ["a", "b"]) {
        await put(saver, await put(saver, id, values), values);
        // Its pieces are looked through when a thread goes that shares them.
        await saver.copyThread(id, `${id} copied`);
      }
      const ofA = "thread = (select pk from threads where thread_id = 'a')";
      await write(db, `update checkpoints set body = ? where ${ofA}`, UTF8.encode("{"));
      await expect(saver.prune()).rejects.toMatchObject(told("Checkpoint"));
      expect(await listed(another(), { configurable: { thread_id: "b" } })).toHaveLength(1);
      for (const id of ["a copied", "b copied"]) await saver.setThreadTtl(id, 0);
      await expect(new CheckpointSaver(ctx).sweepExpired()).rejects.toMatchObject(told("checkpoints"));
      expect(await saver.getTuple({ configurable: { thread_id: "b copied" } })).toBeUndefined();
    }));

  it("an item of the memory store", () =>
    damaged("store_items", "value", "{", async (_, __, { ctx }) => {
      await expect(new Store(ctx).get(["notes"], "key")).rejects.toMatchObject(told("key"));
    }));

  it("a namespace of the memory store", () =>
    damaged("store_items", "namespace", '["notes"', async (_, __, { ctx }) => {
      await expect(new Store(ctx).listNamespaces({})).rejects.toMatchObject(told("notes"));
    }));
});

type Read = (storage: Storage, session_id: string) => Promise<unknown>;

/** What is kept as JSON in a row of its own, who reads it, and what its name begins with. */
const COLUMNS: [table: string, column: string, told: string, read: Read][] = [
  ["sessions", "config", "session", (storage, id) => storage.getSession(id)],
  ["sessions", "metadata", "session", (storage) => storage.listSessions()],
  ["sessions", "config", "session", (storage, id) => storage.updateSession(id, { config: { model: "m" } })],
  ["messages", "content", "Message", (storage, id) => storage.getMessagesBySession(id)],
  ["messages", "tool_calls", "Message", (storage, id) => storage.listMessagesForSession(id)],
  ["runs", "error", "run", (storage, id) => storage.listRuns(id)],
  ["runs", "input", "run", (storage) => storage.claimRun({ owner: "w", lease_ms: 1_000 })],
  ["events", "data", "Event", (storage, session_id) => storage.readEvents({ session_id })],
  ["deliveries", "payload", "delivery", (storage) => storage.listDeliveries()],
  ["deliveries", "attempts", "delivery", (storage) => storage.claimDeliveries({ limit: 1, lease_ms: 1_000 })],
];

describe.each(databases)("damaged rows of a storage on $name", ({ create }) => {
  it("keep the events of no other run from being folded", async () => {
    const { uri, open, remove } = await create();
    const storage = await openStorage(uri);
    const db = open();
    try {
      const sessions: string[] = [];
      for (const _ of upTo(2)) {
        const { session_id, lease } = await startRun(storage);
        await storage.finishRun(lease, endOf("succeeded", token("a"), token("b")));
        sessions.push(session_id);
      }
      await write(db, "update events set data = ? where seq = 1 and thread = (select min(pk) from threads)", "{");
      await expect(storage.compactEvents(new Date(Date.now() + 60_000))).rejects.toMatchObject(told("Event 1"));
      const { folded } = await storage.readEvents({ session_id: sessions[1] as string });
      expect(folded).toBe(1);
    } finally {
      await Promise.all([storage.close(), db.close()]);
      await remove();
    }
  });

  it("keep no run and no delivery that comes after them from being claimed, and are told when there is no other", async () => {
    const { uri, open, remove } = await create();
    const storage = await openStorage(uri);
    const db = open();
    try {
      const damaged = await finishRunWithDelivery(storage, { url: "https://a.example/", payload: {} });
      await storage.createRun({ session_id: damaged.session_id, input: {} });
      await write(db, "update runs set input = ?", "{");
      await write(db, "update deliveries set payload = ?", "{");
      const other = await storage.createSession({});
      const { run } = await storage.createRun({ session_id: other.id });
      const claim = { owner: "w", lease_ms: 60_000 };
      const claimed = await storage.claimRun(claim);
      expect(claimed).toMatchObject({ run_id: run.id });
      await expect(storage.claimRun(claim)).rejects.toMatchObject(told("The input of run"));
      const delivery = { url: "https://b.example/", payload: {} };
      await storage.finishRun(claimed as Lease, { ...endOf("succeeded"), delivery });
      const due = { limit: 1, lease_ms: 60_000 };
      expect(await storage.claimDeliveries(due)).toMatchObject([{ url: "https://b.example/" }]);
      await expect(storage.claimDeliveries(due)).rejects.toMatchObject(told("The payload of delivery"));
    } finally {
      await Promise.all([storage.close(), db.close()]);
      await remove();
    }
  });

  it.each(COLUMNS)("%s.%s", async (table, column, what, read) => {
    const { uri, open, remove } = await create();
    const storage = await openStorage(uri);
    const db = open();
    try {
      const { session_id } = await finishRunWithDelivery(storage, { url: "https://a.example/", payload: {} });
      await storage.createMessage({ session_id, role: "user", content: "hello" });
      await storage.createRun({ session_id, input: {} });
      await write(db, `update ${table} set ${column} = ?`, "{");
      await expect(read(storage, session_id)).rejects.toMatchObject(told(what));
    } finally {
      await Promise.all([storage.close(), db.close()]);
      await remove();
    }
  });
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
