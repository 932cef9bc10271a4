import type { SqlContext } from "../sql/context.ts";
import { placeholders } from "../sql/dialect.ts";
import { all, type SqlValue, type Statement } from "../sql/statement.ts";
import type { Step } from "./store-batch.ts";

const COLUMNS = ["value", "ttl_ms", "expires_at"] as const;

interface RecordedPut {
  thread_id: string;
  address: { scope: string; namespace: string; key: string };
  put: Statement;
}

/** Writes the item and, in the same commit, what it was before and after, under the head of the thread that wrote it. */
export function recordedPut({ db, now }: SqlContext, { thread_id, address, put }: RecordedPut): Step {
  const { dialect } = db;
  const { scope, namespace, key } = address;
  const item: SqlValue[] = [scope, namespace, key];
  const live = `(expires_at is null or expires_at > ${dialect.nowMs})`;
  const select = `select value, ttl_ms, expires_at from store_items where scope = ? and namespace = ? and key = ? and ${live}`;
  const read = { sql: placeholders(dialect, select), params: item };
  return {
    writes: address,
    *body() {
      const [before, , after] = yield* all([read, put, read]);
      const [old, fresh] = [before, after].map((found) => COLUMNS.map((name) => found?.rows[0]?.[name] ?? null));
      // A time that only starts anew is no change: it would be one with every put.
      if (old?.[0] !== fresh?.[0] || old?.[1] !== fresh?.[1]) {
        const time = `cast(? as ${dialect.bigint})`;
        const sql = `insert into memory_changes (thread, checkpoint_id, scope, namespace, key, before, before_ttl_ms,
            before_expires_at, after, after_ttl_ms, after_expires_at, created_at)
          select t.pk, t.head, cast(? as text), cast(? as text), cast(? as text), cast(? as text), ${time}, ${time},
            cast(? as text), ${time}, ${time}, cast(? as text)
          from threads t where t.thread_id = ?`;
        const params = [...item, ...(old ?? []), ...(fresh ?? []), now(), thread_id];
        yield* all([{ sql: placeholders(dialect, sql), params }]);
      }
      return { value: undefined };
    },
  };
}
