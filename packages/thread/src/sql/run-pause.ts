import { AppError, isAppError, isRunOutcome, type Run } from "@cognition/contract";
import type { NewDelivery } from "../delivery-store.ts";
import type { NewEvent } from "../event-log.ts";
import type { Lease, RunStore } from "../run-store.ts";
import type { SqlContext } from "./context.ts";
import { refuseEnd } from "./event-append.ts";
import { jsonText, storedJson } from "./json-text.ts";
import { runNotFound } from "./lease-fence.ts";
import { leaveRun } from "./leave-run.ts";
import { changeRunning, changeUnlessAborted, HEAD } from "./run-end.ts";
import { toRun } from "./run-row.ts";
import { setSessionStatus } from "./session-status.ts";
import { all, first, type Tx } from "./statement.ts";
import { CLAIMABLE } from "./wake-ups.ts";
import { writeThread } from "./write-thread.ts";

/** Its number in the line is its row's, so it stands where it stood: before everything that came after it. */
export async function releaseRun(ctx: SqlContext, lease: Lease): Promise<void> {
  await leaveRun(ctx, lease, { change: changeRunning(ctx, lease, { status: "queued" }), events: [] });
  ctx.db.wakeUps.send(CLAIMABLE);
}

/** Reaching a human is progress: what was cut off before no longer counts against the run. */
export async function suspendRun(
  ctx: SqlContext,
  lease: Lease,
  events: readonly NewEvent[],
  delivery?: NewDelivery,
  usage?: Run["usage"],
  rebuild?: boolean,
): Promise<Run> {
  events.forEach(refuseEnd);
  const used = usage ? { usage: jsonText(usage, "usage") } : {};
  const columns = { status: "waiting_for_approval", stalled_attempts: 0, checkpoint_id: HEAD, ...used };
  const change = changeUnlessAborted(ctx, lease, columns);
  try {
    const left = await leaveRun(ctx, lease, {
      change,
      session_status: "waiting_for_approval",
      events,
      delivery,
      rebuild,
    });
    return left.run;
  } catch (error) {
    throw isAppError(error, "stale_epoch") && (await isToBeAborted(ctx, lease)) ? abortedMeanwhile(lease) : error;
  }
}

/** Else it would wait for an answer, though whoever aborted it was told that it has ended. */
async function isToBeAborted({ db }: SqlContext, { run_id, epoch }: Lease): Promise<boolean> {
  const query = db.q.selectFrom("runs").select("status").where("id", "=", run_id).where("epoch", "=", epoch);
  const [run] = await db.read(query.where("abort_requested_at", "is not", null));
  return run?.status === "running";
}

function abortedMeanwhile({ run_id }: Lease): AppError {
  return new AppError("aborted", `Run ${run_id} was aborted before it could ask; it does not wait for an answer`);
}

type NewInput = Parameters<RunStore["resumeRun"]>[1];

export async function resumeRun(ctx: SqlContext, run_id: string, input: NewInput, attempt?: number): Promise<Run> {
  const { db } = ctx;
  const textOf = (before: string) =>
    jsonText(typeof input === "function" ? input(storedJson(before, `The input of run ${run_id}`)) : input, "input");
  const [found] = await db.read(db.q.selectFrom("runs").select("session_id").where("id", "=", run_id));
  if (!found) throw runNotFound(run_id);
  return writeThread(db, found, () => resume(ctx, run_id, textOf, attempt));
}

/** The thread's row is held already, so what is read here is what is changed. */
function* resume(
  ctx: SqlContext,
  run_id: string,
  textOf: (before: string) => string,
  attempt: number | undefined,
): Tx<Run> {
  const { q } = ctx.db;
  const run = yield* first(q.selectFrom("runs").select(["status", "input", "attempt"]).where("id", "=", run_id));
  if (run?.status !== "waiting_for_approval") {
    throw run ? notWaiting(run_id, run.status as Run["status"]) : runNotFound(run_id);
  }
  if (attempt !== undefined && attempt !== run.attempt) throw askedAgain(run_id);
  const set = { status: "queued", input: textOf(run.input) };
  const resumed = yield* first(q.updateTable("runs").set(set).where("id", "=", run_id).returningAll());
  if (!resumed) throw runNotFound(run_id);
  yield* all([setSessionStatus(ctx, resumed.session_id, "active")]);
  return toRun(resumed);
}

function askedAgain(run_id: string): AppError {
  const message = `Run ${run_id} was answered meanwhile and asks anew; this answer is not kept. Look at what waits now.`;
  return new AppError("already_answered", message);
}

function notWaiting(run_id: string, status: Run["status"]): AppError {
  return isRunOutcome(status)
    ? new AppError("run_ended", `Run ${run_id} has ended as ${status}; it takes no answer`)
    : new AppError(
        "already_answered",
        `Run ${run_id} is ${status}: it was answered already, and this answer is not kept`,
      );
}
