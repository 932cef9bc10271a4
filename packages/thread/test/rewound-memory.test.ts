import { describe, expect, it } from "vitest";
import { Store } from "../src/checkpoint/store.ts";
import { put } from "../src/conformance/checkpoint-line.ts";
import { rewindMemory } from "../src/sql/rewind-memory.ts";
import { createSessionStore } from "../src/sql/session-store.ts";
import { statement } from "../src/sql/statement.ts";
import { createTimelineStore } from "../src/sql/timeline-store.ts";
import { type OpenDatabase, savers } from "./checkpoint-database.ts";

const HOUR = { ttl: 60 };
const DAY = { ttl: 24 * 60 };

/** A thread that has one checkpoint, then changes its memory, then has a second one. */
async function changed({ ctx, saver, db }: OpenDatabase, change: (store: Store) => Promise<void>) {
  const { id: session_id, thread_id } = await createSessionStore(ctx).createSession({});
  const store = new Store(ctx).recordedFor(thread_id);
  await store.put(["m"], "kept", { n: 1 }, undefined, HOUR);
  const first = await put(saver, thread_id, { n: 1 });
  const items = () =>
    db.read(db.q.selectFrom("store_items").select(["key", "value", "ttl_ms", "expires_at"]).orderBy("key"));
  const before = await items();
  await change(store);
  const second = await put(saver, first, { n: 2 });
  const timeline = createTimelineStore(ctx);
  const go = async (to: string, expected_head: string) =>
    (await timeline.rewindSession({ session_id, checkpoint_id: to, expected_head, conversation: true, memory: true }))
      .head;
  return { before, items, go, first: first.checkpoint.id, second: second.checkpoint.id };
}

const CHANGES: Record<string, (store: Store) => Promise<void>> = {
  "another value for ever": (store) => store.put(["m"], "kept", { n: 2 }, undefined, { ttl: null }),
  "another value for longer": (store) => store.put(["m"], "kept", { n: 2 }, undefined, DAY),
  "the same value for longer": (store) => store.put(["m"], "kept", { n: 1 }, undefined, DAY),
  "a deletion": (store) => store.delete(["m"], "kept"),
};

describe.each(savers)("memory that a rewind sets back, on $name", ({ run }) => {
  it.each(Object.entries(CHANGES))("keeps the time that it had, and so does what is redone: after %s", (_, change) =>
    run(async (open) => {
      const { before, items, go, first, second } = await changed(open, change);
      expect(before).toMatchObject([{ key: "kept", ttl_ms: 3_600_000, expires_at: expect.any(Number) }]);
      const after = await items();
      const head = await go(first, second);
      expect(await items()).toEqual(before);
      await go(second, head);
      expect(await items()).toEqual(after);
    }),
  );

  it("stays gone if its time has come meanwhile", () =>
    run(async (open) => {
      const { items, go, first, second } = await changed(open, (store) => store.delete(["m"], "kept"));
      const { db } = open;
      await db.atomic([statement(db.q.updateTable("memory_changes").set({ before_expires_at: 1 }))]);
      await go(first, second);
      expect(await items()).toEqual([]);
    }));

  it("goes back behind what has run out by itself", () =>
    run(async (open) => {
      const { db } = open;
      const { before, items, go, first, second } = await changed(open, (store) =>
        store.put(["m"], "kept", { n: 2 }, undefined, DAY),
      );
      await db.atomic([
        statement(
          db.q.updateTable("memory_changes").set({ after_expires_at: 1 }).where("after_ttl_ms", ">", 3_600_000),
        ),
        statement(db.q.deleteFrom("store_items")),
      ]);
      await go(first, second);
      expect(await items()).toEqual(before);
    }));

  it("goes back over any number of checkpoints", () =>
    run(async ({ ctx, db }) => {
      const { thread_id } = await createSessionStore(ctx).createSession({});
      await new Store(ctx).recordedFor(thread_id).put(["m"], "k", { n: 1 });
      const [change] = await db.read(db.q.selectFrom("memory_changes").select("thread"));
      await db.atomic([statement(db.q.updateTable("memory_changes").set({ checkpoint_id: "c1" }))]);
      const undone = Array.from({ length: 70_000 }, (_, n) => ({
        checkpoint_id: `c${n + 1}`,
        parent_id: `c${n}`,
        seq: n,
        isFork: false,
      }));
      const way = { common: "c0", undone, redone: [] };
      await db.transaction(() => rewindMemory(ctx, change?.thread ?? 0, null, way));
      expect(await new Store(ctx).get(["m"], "k")).toBeNull();
    }));
});
