import { tagsOf, type Way } from "./ancestry.ts";
import type { SqlContext } from "./context.ts";
import { all, first, rows, statement, type Tx } from "./statement.ts";

interface Change {
  scope: string;
  namespace: string;
  key: string;
  before: string | null;
  after: string | null;
}

/**
 * Sets back, newest first, what the thread's tools wrote to the memory along what is undone, and does again what is redone.
 * An item that somebody else has changed since is left as it is.
 */
export function* rewindMemory(ctx: SqlContext, thread: number, from: string | null, way: Way): Tx<void> {
  const undone = yield* readChanges(ctx, thread, [...tagsOf(way.undone), from]);
  for (const { before, after, ...item } of undone.toReversed()) yield* change(ctx, item, after, before);
  const redone = yield* readChanges(ctx, thread, tagsOf(way.redone));
  for (const { before, after, ...item } of redone) yield* change(ctx, item, before, after);
}

function* readChanges({ db }: SqlContext, thread: number, tags: readonly (string | null)[]): Tx<Change[]> {
  const named = tags.filter((tag) => tag !== null);
  const query = db.q
    .selectFrom("memory_changes")
    .select(["scope", "namespace", "key", "before", "after"])
    .where("thread", "=", thread)
    .where((eb) =>
      eb.or([
        ...(named.length > 0 ? [eb("checkpoint_id", "in", named)] : []),
        ...(tags.includes(null) ? [eb("checkpoint_id", "is", null)] : []),
        eb.lit(false),
      ]),
    );
  return tags.length === 0 ? [] : yield* rows(query.orderBy("pk"));
}

type Item = Pick<Change, "scope" | "namespace" | "key">;

function* change({ db, now }: SqlContext, item: Item, from: string | null, to: string | null): Tx<void> {
  const { scope, namespace, key } = item;
  const { q } = db;
  const at = q.selectFrom("store_items").select("value");
  const row = yield* first(at.where("scope", "=", scope).where("namespace", "=", namespace).where("key", "=", key));
  if ((row?.value ?? null) !== from) return;
  const updated_at = now();
  if (to === null) {
    const gone = q.deleteFrom("store_items").where("scope", "=", scope);
    yield* all([statement(gone.where("namespace", "=", namespace).where("key", "=", key))]);
    return;
  }
  const insert = q
    .insertInto("store_items")
    .values({ ...item, value: to, ttl_ms: null, expires_at: null, created_at: updated_at, updated_at });
  yield* all([
    statement(
      insert.onConflict((c) => c.columns(["scope", "namespace", "key"]).doUpdateSet({ value: to, updated_at })),
    ),
  ]);
}
