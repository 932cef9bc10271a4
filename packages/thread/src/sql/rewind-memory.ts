import type { Selectable } from "kysely";
import { tagsOf, type Way } from "./ancestry.ts";
import type { SqlContext } from "./context.ts";
import { placeholders, prepared } from "./dialect.ts";
import { all, type Tx } from "./statement.ts";
import type { Tables } from "./tables.ts";

type Change = Selectable<Tables["memory_changes"]>;
type Item = Pick<Change, "scope" | "namespace" | "key">;

/** An item at one of the two ends of a change; null for none. */
interface State {
  value: string | null;
  ttl_ms: number | null;
  expires_at: number | null;
}

/**
 * Sets back, newest first, what the thread's tools wrote to the memory along what is undone, and does again what is redone.
 * An item that somebody else has changed since is left as it is. One that was to be kept for a time is kept until then
 * and no longer: what has run out meanwhile stays gone.
 */
export function* rewindMemory(ctx: SqlContext, thread: number, from: string | null, way: Way): Tx<void> {
  const undone = yield* readChanges(ctx, thread, [...tagsOf(way.undone), from]);
  for (const one of undone.toReversed()) yield* change(ctx, one, stateAfter(one), stateBefore(one));
  const redone = yield* readChanges(ctx, thread, tagsOf(way.redone));
  for (const one of redone) yield* change(ctx, one, stateBefore(one), stateAfter(one));
}

const stateBefore = (change: Change): State => ({
  value: change.before,
  ttl_ms: change.before_ttl_ms,
  expires_at: change.before_expires_at,
});

const stateAfter = (change: Change): State => ({
  value: change.after,
  ttl_ms: change.after_ttl_ms,
  expires_at: change.after_expires_at,
});

function* readChanges({ db }: SqlContext, thread: number, tags: readonly (string | null)[]): Tx<Change[]> {
  if (tags.length === 0) return [];
  const { dialect } = db;
  const named = `checkpoint_id in (${dialect.eachText})`;
  const sql = `select * from memory_changes where thread = ?
    and ${tags.includes(null) ? `(checkpoint_id is null or ${named})` : named} order by pk`;
  const names = JSON.stringify(tags.filter((tag) => tag !== null));
  const [found] = yield* all([prepared(dialect, sql, [thread, names])]);
  return (found?.rows ?? []) as unknown as Change[];
}

function* change({ db, now }: SqlContext, item: Item, from: State, to: State): Tx<void> {
  const { dialect } = db;
  const address = [item.scope, item.namespace, item.key];
  const at = "where scope = ? and namespace = ? and key = ?";
  const select = `select (select value from store_items ${at} and (expires_at is null or expires_at > ${dialect.nowMs})) as value,
    case when cast(? as ${dialect.bigint}) <= ${dialect.nowMs} then 1 else 0 end as has_run_out`;
  const [found] = yield* all([{ sql: placeholders(dialect, select), params: [...address, from.expires_at] }]);
  const { value: is, has_run_out } = found?.rows[0] ?? {};
  // One that has run out by itself is what the change left: nobody else has taken it away.
  if (is !== from.value && !(is === null && has_run_out === 1)) return;
  const remove = { sql: placeholders(dialect, `delete from store_items ${at}`), params: address };
  if (to.value === null) {
    yield* all([remove]);
    return;
  }
  const put = `insert into store_items (scope, namespace, key, value, ttl_ms, expires_at, created_at, updated_at)
    select cast(? as text), cast(? as text), cast(? as text), cast(? as text), cast(? as ${dialect.bigint}),
      cast(? as ${dialect.bigint}), cast(? as text), cast(? as text)
    where cast(? as ${dialect.bigint}) is null or cast(? as ${dialect.bigint}) > ${dialect.nowMs}
    on conflict (scope, namespace, key) do update set value = excluded.value, ttl_ms = excluded.ttl_ms,
      expires_at = excluded.expires_at, updated_at = excluded.updated_at`;
  const { value, ttl_ms, expires_at } = to;
  const params = [...address, value, ttl_ms, expires_at, now(), now(), expires_at, expires_at];
  const [made] = yield* all([{ sql: placeholders(dialect, put), params }]);
  if (made?.changes === 0) yield* all([remove]);
}
