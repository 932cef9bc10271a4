import { AppError, isAppError, isRunOutcome, type Run } from "@cognition/contract";
import { sql } from "kysely";
import type { Lease } from "../run-store.ts";
import type { Database } from "./database.ts";
import { placeholders } from "./dialect.ts";
import type { SqlValue, Statement } from "./statement.ts";

export interface LeasedWrite {
  events?: number;
  /** What else the caller believes about the lease's run; a wrong belief is refused like an old epoch. */
  session_id?: string;
  thread_id?: string;
  /** Ends the lease: the epoch moves on, so that nothing of this run is written any more. */
  ends?: boolean;
}

/** `advanceThread` for the holder of a lease: it also refuses a lease that is not this run's. */
export function advanceLeased(db: Database, lease: Lease, write: LeasedWrite = {}): Statement {
  const params: SqlValue[] = [write.events ?? 0, lease.run_id, lease.epoch];
  let run = "select r.thread from runs r where r.id = ? and r.epoch = ?";
  if (write.session_id !== undefined) {
    run += " and r.session_id = ?";
    params.push(write.session_id);
  }
  let fence = `pk = (${run}) and epoch = ? and deleted_at is null`;
  params.push(lease.epoch);
  if (write.thread_id !== undefined) {
    fence += " and thread_id = ?";
    params.push(write.thread_id);
  }
  const ending = write.ends ? ", epoch = epoch + 1, lease_owner = null, lease_until = null" : "";
  return {
    sql: placeholders(
      db.dialect,
      `update threads set event_seq = event_seq + ?${ending} where ${fence} returning pk, thread_id, scope, event_seq`,
    ),
    params,
    prepare: true,
    requireRow: leaseRefused,
  };
}

/** The same condition for a query on `threads` that hands out no numbers. */
export function runFence({ run_id, epoch }: Lease) {
  return sql<boolean>`pk = (select r.thread from runs r where r.id = ${run_id} and r.epoch = ${epoch})
    and epoch = ${epoch} and deleted_at is null`;
}

/** Stands for "no row"; `explainLease` finds out why. */
export function leaseRefused(): AppError {
  return new AppError("stale_epoch", "The run's lease was taken over");
}

/** Runs a fenced write; a refusal then says which of its reasons it was. */
export async function writeLeased<T>(db: Database, lease: Lease, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    throw isAppError(error, "stale_epoch") ? await explainLease(db, lease) : error;
  }
}

async function explainLease(db: Database, { run_id, epoch }: Lease): Promise<AppError> {
  const [run] = await db.read(
    db.q
      .selectFrom("runs")
      .innerJoin("threads", "threads.pk", "runs.thread")
      .select(["runs.status", "threads.epoch", "threads.thread_id", "threads.deleted_at"])
      .where("runs.id", "=", run_id),
  );
  if (!run) return runNotFound(run_id);
  if (run.deleted_at)
    return new AppError("thread_deleted", `Thread ${run.thread_id} was deleted; it takes no more writes`);
  if (isRunOutcome(run.status as Run["status"])) {
    return new AppError("run_ended", `Run ${run_id} has ended as ${run.status}; nothing was stored`);
  }
  return new AppError(
    "stale_epoch",
    `Run ${run_id} is ${run.status} at epoch ${run.epoch} of its thread; a write of epoch ${epoch} was refused, nothing of it is stored`,
    { details: { epoch: run.epoch } },
  );
}

export function runNotFound(run_id: string): AppError {
  return new AppError("run_not_found", `There is no run ${run_id}`);
}
