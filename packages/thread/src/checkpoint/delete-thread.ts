import type { SqlContext } from "../sql/context.ts";
import { placeholders } from "../sql/dialect.ts";
import { all, type Tx } from "../sql/statement.ts";
import { lockLineage, sweepLineage } from "./lineage.ts";

/**
 * Removes what the thread has stored and leaves a tombstone: a writer that comes late is refused, whatever its epoch.
 * Pieces that another live thread of the lineage names stay. False if there is no such thread.
 */
export function* deleteThread({ db, now }: SqlContext, thread_id: string): Tx<boolean> {
  const { dialect } = db;
  const found = yield* lockLineage(dialect, thread_id);
  const thread = found?.threads.find((one) => one.thread_id === thread_id);
  if (!found || !thread || thread.deleted_at !== null) return false;
  yield* all(
    [
      `update threads set deleted_at = ?, lease_owner = null, lease_until = null, expires_at = null, head = null, bytes = 0,
         epoch = epoch + 1 where pk = ?`,
      "delete from checkpoints where thread = ?",
      "delete from checkpoint_writes where thread = ?",
      "delete from workspaces where thread = ?",
    ].map((sql, i) => ({ sql: placeholders(dialect, sql), params: i === 0 ? [now(), thread.pk] : [thread.pk] })),
  );
  const othersLive = found.threads.some((one) => one.pk !== thread.pk && one.deleted_at === null);
  if (othersLive) yield* sweepLineage(dialect, found.lineage);
  else yield* all([{ sql: placeholders(dialect, "delete from pieces where lineage = ?"), params: [found.lineage] }]);
  return true;
}
