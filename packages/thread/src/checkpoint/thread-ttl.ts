import { AppError, MAX_TTL_SECONDS } from "@cognition/contract";
import type { SqlContext } from "../sql/context.ts";
import { Damage } from "../sql/damaged-rows.ts";
import type { Database } from "../sql/database.ts";
import { type Dialect, placeholders } from "../sql/dialect.ts";
import { isOver } from "../sql/lease-time.ts";
import { all, type Tx } from "../sql/statement.ts";
import { type DeletedThread, deleteThread, removeRest } from "./delete-thread.ts";
import { lockLineage } from "./lineage.ts";

export async function setThreadTtl(db: Database, thread_id: string, ttl_ms: number | null): Promise<void> {
  if (ttl_ms !== null && !(Number.isSafeInteger(ttl_ms) && ttl_ms >= 0 && ttl_ms <= MAX_TTL_SECONDS * 1000)) {
    throw new AppError(
      "validation_failed",
      `A thread's ttl_ms is a whole number of milliseconds from 0 to ${MAX_TTL_SECONDS * 1000}, or null for ever; not ${ttl_ms}`,
    );
  }
  const { dialect } = db;
  const sql = `update threads set expires_at = ${dialect.nowMs} + cast(? as ${dialect.bigint})
    where thread_id = ? and deleted_at is null returning pk`;
  const requireRow = () => new AppError("thread_not_found", `There is no thread ${thread_id}`);
  await db.atomic([{ sql: placeholders(dialect, sql), params: [ttl_ms, thread_id], requireRow }]);
}

/**
 * Threads whose time is over by the database's clock, each gone in a transaction of its own; and what is left of those that
 * a process which was killed had begun to remove.
 */
export async function sweepExpired(ctx: SqlContext): Promise<string[]> {
  const { db } = ctx;
  const [found, left] = await db.readAll([
    { sql: `select thread_id from threads where ${isExpired(db.dialect)}`, params: [] },
    { sql: `select pk from threads where expires_at <= ${db.dialect.nowMs} and deleted_at is not null`, params: [] },
  ]);
  for (const { pk } of left?.rows ?? []) await removeRest(ctx, { pk: Number(pk), hasMore: true });
  const swept: string[] = [];
  const damage = new Damage();
  for (const row of found?.rows ?? []) {
    const thread_id = String(row["thread_id"]);
    const deleted = await damage.pass(db.transaction(() => removeExpired(ctx, thread_id)));
    if (!deleted) continue;
    swept.push(thread_id);
    await removeRest(ctx, deleted);
  }
  damage.tell();
  return swept;
}

/** Asks again under the lock: a run may have taken the thread meanwhile, or a write have given it more time. */
function* removeExpired(ctx: SqlContext, thread_id: string): Tx<DeletedThread | undefined> {
  const { dialect } = ctx.db;
  yield* lockLineage(dialect, thread_id);
  const sql = `select pk from threads where thread_id = ? and ${isExpired(dialect)}`;
  const [still] = yield* all([{ sql: placeholders(dialect, sql), params: [thread_id] }]);
  return still?.rows.length === 1 ? yield* deleteThread(ctx, thread_id) : undefined;
}

function isExpired({ nowMs }: Dialect): string {
  return `expires_at <= ${nowMs} and deleted_at is null and ${isOver("lease_until", nowMs)}`;
}
