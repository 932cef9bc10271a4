import { AppError, isTerminalEvent } from "@cognition/contract";
import { sql, type UpdateObject } from "kysely";
import type { WriterLease } from "../checkpoint/lease.ts";
import type { Lease, RunEnd } from "../run-store.ts";
import type { SqlContext } from "./context.ts";
import type { Database } from "./database.ts";
import { fixedQuery } from "./fixed-query.ts";
import { jsonText } from "./json-text.ts";
import { type Left, leaveRun } from "./leave-run.ts";
import { type Statement, statement } from "./statement.ts";
import type { Tables } from "./tables.ts";

/** Where the run stands when it is left: where one that resumes it goes on. */
export const HEAD = sql<string | null>`(select t.head from threads t where t.pk = runs.thread)`;

/** With what its checkpoints have on their way, in one commit: if that can't be stored, the run has not ended. */
export async function finishRun(ctx: SqlContext, lease: WriterLease, end: RunEnd): Promise<Left> {
  requireOneEnd(end);
  const { status, events, delivery, usage, error, withLastWord } = end;
  const change = endRunning(ctx.db, {
    run_id: lease.run_id,
    epoch: lease.epoch,
    status,
    finished_at: ctx.now(),
    usage: usage ? jsonText(usage, "usage") : null,
    error: error ? jsonText(error, "error") : null,
  });
  const session_status = status === "failed" ? "error" : "active";
  const leaving = { change, session_status, events, delivery, usage, withLastWord } as const;
  return leaveRun(ctx, lease, leaving, (write) => lease.writes?.commitWith(lease, write));
}

type RunChange = UpdateObject<Tables, "runs">;

/**
 * Compare-and-set: from running under this very lease, or not at all. The status is a literal: there are indexes of runs
 * of one status, and SQLite would prepare the statement anew for each value that is bound, to see whether they fit.
 */
function running({ q }: Pick<Database, "q">, { run_id, epoch }: Lease, columns: RunChange) {
  return q
    .updateTable("runs")
    .set(columns)
    .where("id", "=", run_id)
    .where("epoch", "=", epoch)
    .where(sql<boolean>`status = 'running'`)
    .returningAll();
}

export function changeRunning({ db }: SqlContext, lease: Lease, columns: RunChange): Statement {
  return statement(running(db, lease, columns));
}

/** The same, of a run that nobody wants aborted. */
export function changeUnlessAborted({ db }: SqlContext, lease: Lease, columns: RunChange): Statement {
  return statement(running(db, lease, columns).where("abort_requested_at", "is", null));
}

interface RunEndRow extends Lease {
  status: RunEnd["status"];
  finished_at: string;
  usage: string | null;
  error: string | null;
}

const endRunning = fixedQuery<RunEndRow>((db, row) => {
  const { status, finished_at, usage, error } = row;
  return running(db, row, { status, finished_at, checkpoint_id: HEAD, usage, error });
});

function requireOneEnd({ events, status }: RunEnd): void {
  const ends = events.filter(({ event }) => isTerminalEvent(event));
  const last = events.at(-1);
  if (ends.length === 1 && ends[0] === last && last?.data.status === status) return;
  throw new AppError(
    "validation_failed",
    `A run's end needs exactly one done event, last of all and with status ${status}; nothing was stored`,
  );
}
