import type { Scope } from "@cognition/contract";
import type { CheckpointSaver, Storage } from "@cognition/thread";
import type { Config } from "../config/config-schema.ts";

export interface RetentionOptions {
  readonly storage: Storage;
  readonly saver: Pick<CheckpointSaver, "prune" | "sweepExpired">;
  readonly settings: Config["retention"];
  readonly clock?: { now(): number };
  readonly onError: (error: unknown) => void;
}

/** Lets go of what is past its time. */
export interface Retention {
  /** Sweeps once in every interval, unless another node has. */
  start(): void;
  /** Begins nothing more, and waits for the step at hand. */
  stop(): Promise<void>;
  /** All of it now, whoever else does. A step that fails is reported and does not keep the others from their work. */
  sweep(): Promise<SweepSummary>;
}

export interface SweepSummary {
  idempotency_keys: number;
  rate_limits: number;
  budget_usage: number;
  items: number;
  threads: number;
  checkpoints: number;
  events: number;
  deliveries: number;
  snapshot_objects: number;
}

const DAY_MS = 24 * 3600 * 1000;
/** A run may be resumed so long after its end and still counts against what it had. */
const BUDGET_USAGE_DAYS = 31;
/** After a start: soon enough for processes that don't live long, and out of the way of the first requests. */
const FIRST_MS = 60_000;
/** A node's own next turn must find the claim of its last one run out, though its timer is a little early. */
const CLAIMED_PART = 0.9;
/** No caller's: scope keys have no colon. */
const CLAIM = { scope: { "server:retention": "sweep" }, key: "sweep", body_hash: "" };

/**
 * Every step works in transactions of its own that are safe beside any other work, a second sweep included. That only one node
 * sweeps at a time, by a claim that runs out with the interval, spares the database the same work twice.
 */
export function createRetention(options: RetentionOptions): Retention {
  const { storage, settings, onError } = options;
  const interval = settings.interval * 1000;
  const steps = sweepSteps(options, report);
  let ending = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let working: Promise<unknown> | undefined;

  async function sweep(): Promise<SweepSummary> {
    const summary = {} as Record<keyof SweepSummary, number>;
    for (const [name, step] of steps) {
      summary[name] = ending.signal.aborted ? 0 : await step(ending.signal).catch(report);
    }
    return summary;
  }

  function report(error: unknown): number {
    onError(error);
    return 0;
  }

  async function turn(): Promise<void> {
    const claim = { ...CLAIM, ttl_ms: Math.floor(interval * CLAIMED_PART) };
    const { state } = await storage.claimIdempotencyKey(claim);
    if (state === "new") await sweep();
  }

  function plan(after_ms: number): void {
    timer = setTimeout(() => {
      working = turn()
        .catch(onError)
        .finally(() => {
          if (!ending.signal.aborted) plan(interval);
        });
    }, after_ms);
    timer.unref();
  }

  return {
    sweep,
    start() {
      if (timer) return;
      ending = new AbortController();
      plan(Math.min(interval, FIRST_MS));
    },
    async stop() {
      ending.abort();
      clearTimeout(timer);
      timer = undefined;
      await working;
    },
  };
}

type Step = (signal: AbortSignal) => Promise<number>;
type Report = (error: unknown) => number;

/** In this order: what a later one removes may be what an earlier one has let go of. */
function sweepSteps(options: RetentionOptions, report: Report): [keyof SweepSummary, Step][] {
  const { storage, saver, settings, clock = Date } = options;
  const before = (days: number) => new Date(clock.now() - days * DAY_MS);
  const { checkpoints_keep_last: last, checkpoints_max_age_days: age, redo_keep, events_fold_after_days } = settings;
  const { deliveries_max_age_days } = settings;
  return [
    ["idempotency_keys", () => storage.pruneIdempotencyKeys()],
    ["rate_limits", () => storage.rateLimits.pruneRateLimits()],
    ["budget_usage", () => storage.budgets.pruneBudgetUsage(before(BUDGET_USAGE_DAYS))],
    [
      "items",
      async (signal) => {
        const sweepItems = async (scope: Scope) => (await storage.getStore(scope)).sweepExpired();
        return sweepEach(await storage.expiredStores(), sweepItems, signal, report);
      },
    ],
    ["threads", async () => (await saver.sweepExpired()).length],
    [
      "checkpoints",
      async (signal) => {
        if (last === undefined && age === undefined) return 0;
        const { checkpoints } = await saver.prune({
          signal,
          ...(last !== undefined && { keep_last: last }),
          ...(age !== undefined && { before: before(age) }),
          ...(redo_keep !== undefined && { keep_undone: redo_keep }),
        });
        return checkpoints;
      },
    ],
    [
      "events",
      async (signal) => {
        if (events_fold_after_days === undefined) return 0;
        return (await storage.compactEvents(before(events_fold_after_days), { signal })).folded;
      },
    ],
    ["deliveries", (signal) => storage.pruneDeliveries(before(deliveries_max_age_days), { signal })],
    [
      "snapshot_objects",
      async (signal) => {
        const { snapshots } = storage;
        const sweepFiles = async (scope: Scope) => (await snapshots.sweepSnapshots({ scope })).objects;
        return sweepEach(await snapshots.snapshotScopes(), sweepFiles, signal, report);
      },
    ],
  ];
}

/** Of what is kept scope by scope: one where it fails, as over a damaged row, is reported and keeps no other from its turn. */
async function sweepEach(
  scopes: readonly Scope[],
  sweepOne: (scope: Scope) => Promise<number>,
  signal: AbortSignal,
  report: Report,
): Promise<number> {
  let swept = 0;
  for (const scope of scopes) {
    if (signal.aborted) break;
    swept += await sweepOne(scope).catch(report);
  }
  return swept;
}
