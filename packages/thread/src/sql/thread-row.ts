import { AppError } from "@cognition/contract";
import type { Database } from "./database.ts";
import { placeholders } from "./dialect.ts";
import type { SqlValue, Statement } from "./statement.ts";

/** Names a thread by its id or by its session's. */
export type ThreadName = { thread_id: string } | { session_id: string };

export interface ThreadAdvance {
  events: number;
  /** The writer's lease epoch; without one the write is not fenced. */
  epoch?: number | undefined;
  /** Who holds the thread from now on, in a new epoch. */
  lease?: { owner: string; lease_ms: number } | undefined;
}

/**
 * The first statement of every write to a thread: it locks the thread's row, refuses an old epoch and a deleted
 * thread, and hands out the next event numbers. Yields pk and the new event_seq, or no row at all when refused.
 */
export function advanceThread({ dialect }: Database, thread: ThreadName, advance: ThreadAdvance): Statement {
  const { events, epoch, lease } = advance;
  const [which, name] = whichThread(thread);
  const fence = epoch === undefined ? "" : " and epoch = ?";
  const taking = lease ? `, epoch = epoch + 1, lease_owner = ?, lease_until = ${dialect.nowMs} + ?` : "";
  const params: SqlValue[] = [
    events,
    ...(lease ? [lease.owner, lease.lease_ms] : []),
    name,
    ...(epoch === undefined ? [] : [epoch]),
  ];
  return {
    sql: placeholders(
      dialect,
      `update threads set event_seq = event_seq + ?${taking} where ${which} and deleted_at is null${fence}
       returning pk, thread_id, scope, event_seq, epoch`,
    ),
    params,
    prepare: true,
    requireRow: refused,
  };
}

/**
 * The first statement of a write that needs no event numbers: the same lock and the same refusal, without a new version
 * of the row, which on SQLite is a page more to write at every commit.
 */
export function holdThread({ dialect }: Database, thread: ThreadName): Statement {
  const [which, name] = whichThread(thread);
  const sql = `select pk from threads where ${which} and deleted_at is null${dialect.holdRow}`;
  return { sql: placeholders(dialect, sql), params: [name], prepare: true, requireRow: refused };
}

function whichThread(thread: ThreadName): [sql: string, name: string] {
  return "thread_id" in thread
    ? ["thread_id = ?", thread.thread_id]
    : ["thread_id = (select s.thread_id from sessions s where s.id = ?)", thread.session_id];
}

/** Stands for "no row"; `explainRefusal` finds out why. */
function refused(): AppError {
  return new AppError("stale_epoch", "The thread's lease was taken over");
}

/** Says which of the reasons it was that `advanceThread` found no row. */
export async function explainRefusal(db: Database, thread: ThreadName, epoch: number | undefined): Promise<AppError> {
  const query = db.q.selectFrom("threads").select(["threads.thread_id", "threads.epoch", "threads.deleted_at"]);
  const [row] = await db.read(
    "thread_id" in thread
      ? query.where("threads.thread_id", "=", thread.thread_id)
      : query
          .innerJoin("sessions", "sessions.thread_id", "threads.thread_id")
          .where("sessions.id", "=", thread.session_id),
  );
  if (!row) {
    return "session_id" in thread
      ? new AppError("session_not_found", `There is no session ${thread.session_id}`)
      : new AppError("thread_not_found", `There is no thread ${thread.thread_id}`);
  }
  if (row.deleted_at)
    return new AppError("thread_deleted", `Thread ${row.thread_id} was deleted; it takes no more writes`);
  return new AppError(
    "stale_epoch",
    `Thread ${row.thread_id} is at epoch ${row.epoch}; a write of epoch ${epoch} was refused, nothing of it is stored`,
    { details: { epoch: row.epoch } },
  );
}
