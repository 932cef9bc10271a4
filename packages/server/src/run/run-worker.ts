import { AppError, isAppError, type Scope, type TokenUsage } from "@cognition/contract";
import {
  type CheckpointSaver,
  type ClaimedRun,
  LEASE,
  type NewDelivery,
  type RunEnd,
  type Storage,
  type WriterLease,
} from "@cognition/thread";
import { messageOf } from "../file/error-text.ts";
import type { Executor, RunResult, RunWork } from "./executor.ts";
import { handBack } from "./hand-back.ts";
import { startHeartbeat } from "./heartbeat.ts";
import { lastUsage } from "./last-usage.ts";
import { lastValidEvent } from "./last-valid-event.ts";
import { AWAY, NOT_THE_RUNS } from "./not-the-runs.ts";
import { retryStorage } from "./retry-storage.ts";
import {
  type EndOf,
  endEvents,
  errorOf,
  type LeftAs,
  lastWordOf,
  messagesDiffered,
  tooManyAttempts,
} from "./run-end.ts";
import { createRunLog } from "./run-log.ts";
import type { ObserveRun } from "./run-observer.ts";

export interface RunWorkerOptions {
  storage: Storage;
  saver: CheckpointSaver;
  executor: Executor;
  observe?: ObserveRun | undefined;
  lease_ms: number;
  /** A run that was cut off so often without a new checkpoint is given up: it may be what kills its nodes. */
  max_stalled_attempts: number;
  /** The callback that the run's end or pause owes, if any; in the same commit. */
  deliveryOf?: (run: Pick<ClaimedRun, "run" | "callback_url">, left: LeftAs) => NewDelivery | undefined;
  /** Told when such a callback is in the outbox. */
  onOwed?: () => void;
  /** Told when a run is not this node's any more, or anybody's again: commands of it may have been left here. */
  onLost?: () => void;
  onError: (error: unknown, run_id: string) => void;
}

/** How one run on this node can be stopped from outside. */
export interface RunHandle {
  run_id: string;
  session_id: string;
  scopes: Scope;
  abort(): void;
  drain(): void;
  /** Stops the work at once and leaves the run to another node. */
  leave(): void;
  /** Finds out now whether somebody wants it aborted, rather than at the next beat. */
  look(): void;
  /**
   * Whether the run is still this node's, as far as it knows. A lease may run out unnoticed, while the process is stopped or busy:
   * until somebody else has claimed the run it can be renewed, and this node itself must not be the one who claims it.
   */
  isHeld(): boolean;
  finished: Promise<MoreWaits>;
}

/** Whether another run of the thread waits for its turn, as far as is known: true where nobody has looked. */
export type MoreWaits = boolean;

const ABORTED = new AppError("aborted", "The run was aborted");
const LEAVING = new AppError("draining", "The node is shutting down; another one goes on with the run");

/**
 * Takes a run, claimed when that was asked for, to its end, its pause or its hand-over. Never rejects: what goes wrong is
 * the run's, or reported.
 */
export function startRun(options: RunWorkerOptions, claimed: ClaimedRun, asked: number): RunHandle {
  const stop = new AbortController();
  const drain = new AbortController();
  const { run_id, epoch, run } = claimed;
  let held = true;
  const lose = (error: Error) => {
    held = false;
    stop.abort(error);
  };
  const lease: WriterLease = {
    run_id,
    epoch,
    lost: lose,
    ...(run.checkpoint_id === null && { empty_session: run.session_id }),
  };
  const heartbeat = startHeartbeat({
    storage: options.storage,
    lease,
    lease_ms: options.lease_ms,
    since: asked,
    onLost: lose,
    onAbort: () => stop.abort(ABORTED),
  });
  if (claimed.abort_requested) stop.abort(ABORTED);
  const finished = work(options, claimed, { lease, signal: stop.signal, drain: drain.signal })
    .catch((error) => {
      options.onError(error, run_id);
      return true;
    })
    .finally(heartbeat.stop);
  return {
    run_id,
    session_id: run.session_id,
    scopes: claimed.scopes,
    abort: () => stop.abort(ABORTED),
    drain: () => drain.abort(LEAVING),
    leave: () => stop.abort(LEAVING),
    look: heartbeat.look,
    isHeld: () => held,
    finished,
  };
}

type Signals = Pick<RunWork, "lease" | "signal" | "drain">;

async function work(options: RunWorkerOptions, claimed: ClaimedRun, signals: Signals): Promise<MoreWaits> {
  const observer = options.observe?.(claimed);
  const log = createRunLog(options.saver, claimed, signals.lease, observer);
  signals.lease.takeEvents = (step) => [...log.takeHeld(), log.number("checkpoint", { ...step })];
  signals.lease.repaired = (repair) => {
    observer?.repaired();
    options.onError(messagesDiffered(claimed.run_id, repair), claimed.run_id);
  };
  const runWork: RunWork = { claimed, log, observer, ...signals };
  try {
    return await workThrough(options, runWork);
  } catch (error) {
    if (!isAppError(error, ...AWAY)) throw error;
    options.onError(error, claimed.run_id);
    await lose(options, runWork, error); // its end, or its question, could not be stored: the next attempt comes to it again
    return true;
  } finally {
    observer?.closed();
  }
}

async function workThrough(options: RunWorkerOptions, runWork: RunWork): Promise<MoreWaits> {
  const { claimed, signal } = runWork;
  let result: RunResult;
  try {
    await announce(options.storage, runWork);
    if (claimed.stalled_attempts >= options.max_stalled_attempts) throw tooManyAttempts(claimed);
    signal.throwIfAborted();
    result = await options.executor.execute(runWork);
    // Its last step may be stored with its end only: if that can't be, the run has failed as if it were still at work.
    if (result.outcome === "succeeded") return await finish(options, runWork, endOf(result));
  } catch (error) {
    return endBadly(options, runWork, error);
  }
  return leaveOpen(options, runWork, result);
}

async function lose({ storage, onLost }: RunWorkerOptions, runWork: RunWork, cause: unknown): Promise<void> {
  if (isAppError(cause, ...AWAY)) await handBack(storage, runWork);
  onLost?.();
}

function endOf({ outcome, ...rest }: Extract<RunResult, { outcome: "succeeded" }>): EndOf {
  return { status: outcome, ...rest };
}

async function announce(storage: Storage, { claimed, log }: RunWork): Promise<void> {
  const { attempt } = claimed.run;
  // The first checkpoint follows at once, before anything slow: a commit of its own would only cost time.
  if (attempt <= 1) log.hold("status", { status: "thinking", attempt });
  else
    log.emit("status", {
      status: "resuming",
      attempt,
      discard_after: await lastValidEvent(storage, claimed),
    });
}

type Open = Exclude<RunResult, { outcome: "succeeded" }>;

async function leaveOpen(options: RunWorkerOptions, runWork: RunWork, result: Open): Promise<MoreWaits> {
  const { storage } = options;
  const { lease, log } = runWork;
  if (result.outcome === "drained") {
    await log.flush();
    await storage.releaseRun(lease);
    return true;
  }
  return suspend(options, runWork, result).catch((error) => {
    if (!isAppError(error, "aborted")) throw error;
    return endBadly(options, runWork, ABORTED); // while it was about to ask
  });
}

type Waiting = Extract<RunResult, { outcome: "waiting" }>;

async function suspend(options: RunWorkerOptions, work: RunWork, waiting: Waiting): Promise<MoreWaits> {
  const { claimed, lease, log, signal } = work;
  await log.flush();
  const event = log.number("interrupt", { interrupts: waiting.interrupts });
  const { usage = null } = waiting;
  const delivery = options.deliveryOf?.(claimed, { status: "waiting", usage });
  const { finished_beside = false } = waiting;
  await retryStorage(signal, () => options.storage.suspendRun(lease, [event], delivery, usage, finished_beside));
  if (delivery) options.onOwed?.();
  return false; // nothing begins before its answer
}

async function endBadly(options: RunWorkerOptions, runWork: RunWork, error: unknown): Promise<MoreWaits> {
  const { signal, lease, claimed } = runWork;
  const cause = signal.aborted ? signal.reason : error;
  if (isAppError(cause, "draining")) {
    // What some of a step's nodes have done is not to be done again. What can't be stored any more is done again.
    await options.saver.flush(claimed.thread_id, lease).catch((late) => options.onError(late, lease.run_id));
    await options.storage.releaseRun(lease);
    return true;
  }
  if (isAppError(cause, ...NOT_THE_RUNS)) {
    options.onError(cause, lease.run_id); // not a word more in its name: whoever claims it next goes on with it
    await lose(options, runWork, cause);
    return true;
  }
  const status = cause === ABORTED ? "aborted" : "failed";
  if (status === "failed") options.onError(error, lease.run_id);
  const settled = await settle(options, runWork, error);
  const end: EndOf = { status, ...settled, ...(status === "failed" ? { error: errorOf(error) } : {}) };
  return finish(options, runWork, end).catch(async (refused) => {
    if (!isAppError(refused, "validation_failed")) throw refused;
    options.onError(refused, lease.run_id);
    // Whose write was refused writes no more until it has read where the thread stands.
    await options.saver.getTuple({ configurable: { thread_id: claimed.thread_id, [LEASE]: lease } });
    return finish(options, runWork, UNSTORABLE);
  });
}

/** For a run whose end holds what the storage refuses: with nothing in it that came from elsewhere. Or it would never end. */
const UNSTORABLE: EndOf = {
  status: "failed",
  usage: null,
  error: {
    code: "agent_failed",
    message: "How the run ended, or what it used, could not be stored. What was said and done before is kept.",
  },
};

/** What can't be settled, because its agent can't be opened any more, ends all the same: or its thread would wait for ever. */
async function settle(options: RunWorkerOptions, runWork: RunWork, cause: unknown) {
  try {
    return await options.executor.settle(runWork);
  } catch (error) {
    if (isAppError(error, ...NOT_THE_RUNS)) throw error;
    // It is told once where it is what the run has failed of.
    if (messageOf(error) !== messageOf(cause)) options.onError(error, runWork.lease.run_id);
    return { usage: await usedSoFar(options.storage, runWork) };
  }
}

async function usedSoFar(storage: Storage, { claimed, log }: RunWork): Promise<TokenUsage | null> {
  await log.flush();
  return (await lastUsage(storage, claimed)) ?? claimed.run.usage;
}

/** The end is one commit, and what the run has given last is in it or was stored before. */
async function finish(options: RunWorkerOptions, { claimed, lease, log }: RunWork, end: EndOf): Promise<MoreWaits> {
  log.release();
  const events = endEvents(log, end);
  const { status, error, usage } = end;
  let owes = false;
  const withLastWord: RunEnd["withLastWord"] = (assistant) => {
    const delivery = options.deliveryOf?.(claimed, { ...end, assistant });
    owes = delivery !== undefined;
    return { done: lastWordOf(assistant), delivery };
  };
  const finishRun = () =>
    options.storage.finishRun(lease, { status, events, usage, withLastWord, ...(error ? { error } : {}) });
  const { others_wait } = await finishRun().catch(async (cause) => {
    if (!isAppError(cause, ...AWAY)) throw cause;
    await log.flush(); // its last step is not stored either: then it has not come to its end
    return retryStorage(undefined, finishRun);
  });
  if (owes) options.onOwed?.();
  return others_wait;
}
