import type { SqlContext } from "../sql/context.ts";
import { type Dialect, placeholders } from "../sql/dialect.ts";
import { isAway } from "../sql/errors.ts";
import { all, type SqlValue, type Statement, type Tx } from "../sql/statement.ts";
import { lockLineage, sweepLineage } from "./lineage.ts";

/** Of each table. Nobody waits long for a transaction that deletes so many. */
const PORTION = 2_000;

export interface DeletedThread {
  pk: number;
  /** To remove than one transaction should: `removeRest` does it. */
  hasMore: boolean;
}

/** Removes what the thread has stored. Undefined if there is no such thread. */
export function* deleteThread(ctx: SqlContext, thread_id: string): Tx<DeletedThread | undefined> {
  const pk = yield* leaveTombstone(ctx, thread_id);
  return pk === undefined ? undefined : { pk, hasMore: yield* removePortion(ctx, pk) };
}

/**
 * A writer that comes late is refused, whatever its epoch, and nobody reads what the thread has stored. Pieces that another
 * live thread of the lineage names stay. Gives the thread's number, or undefined if there is no such thread.
 */
export function* leaveTombstone(ctx: SqlContext, thread_id: string): Tx<number | undefined> {
  const { dialect } = ctx.db;
  const found = yield* lockLineage(dialect, thread_id);
  const thread = found?.threads.find((one) => one.thread_id === thread_id);
  if (!found || !thread || thread.deleted_at !== null) return undefined;
  const { pk } = thread;
  const run = (sql: string, params: SqlValue[]): Statement => ({ sql: placeholders(dialect, sql), params });
  yield* all([
    run(
      `update threads set deleted_at = ?, lease_owner = null, lease_until = null, expires_at = null, head = null, bytes = 0,
         epoch = epoch + 1 where pk = ?`,
      [ctx.now(), pk],
    ),
    run("delete from workspaces where thread = ?", [pk]),
  ]);
  const [live] = yield* all([run(LIVE_OF_LINEAGE, [found.lineage, found.lineage])]);
  if (live?.rows.length) {
    yield* all(["checkpoints", "checkpoint_writes"].map((table) => run(`delete from ${table} where thread = ?`, [pk])));
    yield* sweepLineage(dialect, found.lineage);
  }
  return pk;
}

/** Asked once the lineage is locked: a copy that was being made has its row by now. Of a dead lineage nobody makes one any more. */
const LIVE_OF_LINEAGE = "select 1 from threads where (pk = ? or lineage = ?) and deleted_at is null limit 1";

/** What a deleted thread has left, in transactions that are short. After a crash the next `sweepExpired` goes on with it. */
export async function removeRest(ctx: SqlContext, thread: DeletedThread | undefined): Promise<void> {
  if (!thread?.hasMore) return;
  while (await ctx.db.transaction(() => removePortion(ctx, thread.pk)));
}

/** For whoever has just deleted it. That is done: a storage which goes away meanwhile leaves the rest to the sweep, as a crash does. */
export async function removeRestNow(ctx: SqlContext, thread: DeletedThread | undefined): Promise<void> {
  try {
    await removeRest(ctx, thread);
  } catch (error) {
    if (!isAway(error)) throw error;
  }
}

/** Whether there may be more; a deleted thread that has a time to expire is one of which there is. */
export function* removePortion({ db: { dialect } }: SqlContext, thread: number): Tx<boolean> {
  const run = (sql: string, params: SqlValue[]): Statement => ({ sql: placeholders(dialect, sql), params });
  // The lock, so that of two nodes at it none takes what the other has removed for the end.
  const [found] = yield* all([
    run(
      `select coalesce(lineage, pk) as lineage, deleted_session from threads
       where pk = ? and deleted_at is not null${dialect.lockRows}`,
      [thread],
    ),
  ]);
  const row = found?.rows[0] as { lineage: number; deleted_session: string | null } | undefined;
  if (!row) return false;
  const { lineage } = row;
  const [live] = yield* all([run(LIVE_OF_LINEAGE, [lineage, lineage])]);
  const removed = yield* all([
    removal(dialect, "checkpoints", "thread", "seq", thread),
    removal(dialect, "checkpoint_writes", "thread", "ns, checkpoint_id, task_id, idx", thread),
    ...(row.deleted_session === null ? [] : [removal(dialect, "events", "thread", "seq", thread)]),
    ...(live?.rows.length ? [] : [removal(dialect, "pieces", "lineage", "id", lineage)]),
  ]);
  const hasMore = removed.some(({ changes }) => changes === PORTION);
  const mark = `update threads set expires_at = ${hasMore ? dialect.nowMs : "null"} where pk = ?`;
  yield* all([run(`${mark} and expires_at is ${hasMore ? "" : "not "}null`, [thread])]);
  return hasMore;
}

function removal(dialect: Dialect, table: string, owner: string, key: string, of: number): Statement {
  const sql = `delete from ${table} where ${owner} = ? and (${key}) in
    (select ${key} from ${table} where ${owner} = ? order by ${key} limit ${PORTION})`;
  return { sql: placeholders(dialect, sql), params: [of, of], prepare: true };
}
