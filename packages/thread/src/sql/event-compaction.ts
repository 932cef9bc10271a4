import { isAppError } from "@cognition/contract";
import type { EventLog } from "../event-log.ts";
import type { SqlContext } from "./context.ts";
import { Damage } from "./damaged-rows.ts";
import { placeholders } from "./dialect.ts";
import { type Fold, foldEvents } from "./event-fold.ts";
import { requireDate } from "./input-checks.ts";
import { atMost } from "./limit.ts";
import { all, rows, type Statement, statement, type Tx } from "./statement.ts";
import { writeThread } from "./write-thread.ts";

type Compaction = Awaited<ReturnType<EventLog["compactEvents"]>>;

/** One transaction per run: a long night's work holds no thread for longer than one run takes. */
const RUNS_AT_ONCE = 100;

export async function compactEvents(
  ctx: SqlContext,
  before: Date,
  { signal }: { signal?: AbortSignal } = {},
): Promise<Compaction> {
  const { db } = ctx;
  requireDate("before", before);
  const due = db.q
    .selectFrom("runs")
    .innerJoin("threads", "threads.pk", "runs.thread")
    .select(["runs.pk", "threads.thread_id", "runs.thread"])
    .where("runs.compacted_at", "is", null)
    .where("runs.finished_at", "<", before.toISOString())
    // Its runs can't be marked, and would fill every page.
    .where("threads.deleted_at", "is", null)
    .orderBy("runs.finished_at")
    .orderBy("runs.pk")
    .limit(atMost(RUNS_AT_ONCE));
  const total: Compaction = { runs: 0, folded: 0 };
  const damage = new Damage();
  // They stay due.
  const damaged: number[] = [];
  for (let more = true; more; ) {
    const runs = await db.read(due.where((eb) => eb.and(damaged.map((pk) => eb("runs.pk", "<>", pk)))));
    for (const run of runs) {
      if (signal?.aborted) break;
      const folded = await damage.pass(writeThread(db, run, () => compactRun(ctx, run)).catch(unlessDeleted));
      if (folded === undefined) damaged.push(run.pk);
      else total.folded += folded;
      if (folded) total.runs++;
    }
    more = runs.length === RUNS_AT_ONCE && !signal?.aborted;
  }
  damage.tell();
  return total;
}

/** One that was deleted in between, which the next page is without. */
function unlessDeleted(error: unknown): number {
  if (isAppError(error, "thread_deleted", "thread_not_found")) return 0;
  throw error;
}

/** Gives how many events are gone. */
function* compactRun(ctx: SqlContext, run: { pk: number; thread: number }): Tx<number> {
  const { db } = ctx;
  const mark = db.q
    .updateTable("runs")
    .set({ compacted_at: ctx.now() })
    .where("pk", "=", run.pk)
    .where("compacted_at", "is", null)
    .returning("pk");
  if ((yield* rows(mark)).length === 0) return 0;
  const events = yield* rows(
    db.q
      .selectFrom("events")
      .select(["seq", "event", "data"])
      .where("run", "=", run.pk)
      .where("event", "in", ["token", "reasoning", "status"])
      .orderBy("seq"),
  );
  const folds = foldEvents(events);
  yield* all(folds.flatMap((fold) => replace(ctx, run.thread, fold)));
  return folds.reduce((sum, fold) => sum + fold.gone.length, 0);
}

function replace({ db }: SqlContext, thread: number, { seq, data, gone }: Fold): Statement[] {
  const { dialect, q } = db;
  const drop = `delete from events where thread = ? and seq in (${dialect.eachNumber})`;
  return [
    { sql: placeholders(dialect, drop), params: [thread, JSON.stringify(gone)], prepare: true },
    statement(
      q.updateTable("events").set({ data, folded: gone.length }).where("thread", "=", thread).where("seq", "=", seq),
    ),
  ];
}
