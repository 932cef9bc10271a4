import { randomUUID } from "node:crypto";
import type { AppError } from "@cognition/contract";
import type { BudgetCount, BudgetReservation, BudgetSpend, BudgetStore } from "@cognition/thread";
import { retryStorage } from "../run/retry-storage.ts";
import { budgetExceeded } from "./budget-exceeded.ts";

/** About what a model call will take; `cost` is 0 where no price is known. */
export interface CallEstimate {
  readonly tokens: number;
  readonly cost: number;
}

/** What was reserved for a call that is under way. */
export interface BudgetHold {
  readonly reservation: string | null;
  readonly counts: readonly BudgetCount[];
}

/** What one run may still spend. A limit that is reached stops the run, whatever part of it asked. */
export interface RunBudget {
  /** Aborts, with `budget_exceeded`, when a limit is reached. */
  readonly signal: AbortSignal;
  /** Why the run is being stopped, once it is. */
  readonly stopped: AppError | undefined;
  /** Before anything else, of a run that was begun before: what it had reserved then nobody will settle. */
  giveBack(): Promise<void>;
  /** Starts the clock. */
  begin(): Promise<void>;
  /** Before a model call. Undefined where there is no room: the signal has aborted then. */
  reserve(estimate: CallEstimate): Promise<BudgetHold | undefined>;
  /** After it, with what it came to; `cost` is null where no price is known. */
  settle(hold: BudgetHold, spent: { tokens: number; cost: number | null }): Promise<void>;
  /** Before a tool call. False where there is no room, as above. */
  countToolCall(): Promise<boolean>;
  /** Stops the clock and counts its time. */
  end(): Promise<void>;
}

export interface RunBudgetOptions {
  readonly store: Pick<BudgetStore, "reserve" | "settle" | "giveBack" | "secondsLeft">;
  readonly run_id: string;
  /** The budgets that the run counts against at this moment, and whether one of them limits its time. */
  readonly countsNow: () => Promise<{ counts: readonly BudgetCount[]; timed: boolean }>;
  /** Milliseconds, never going back. */
  readonly now: () => number;
  readonly onError: (error: unknown) => void;
}

type Asked = Pick<BudgetReservation, "tokens" | "cost" | "steps" | "tool_calls">;

/** Longer than model calls take: a reservation that old was left behind by a crash, by a run that nobody went on with. */
const HOLD_MS = 15 * 60_000;
/** How long a limit on time may stay unnoticed by what is at work already. */
const LOOK_MS = 5_000;

export function createRunBudget({ store, run_id, countsNow, now, onError }: RunBudgetOptions): RunBudget {
  const stop = new AbortController();
  let stopped: AppError | undefined;
  let countedAt = now();
  let timer: NodeJS.Timeout | undefined;
  let ended = false;

  const elapsed = () => Math.max(0, (now() - countedAt) / 1000);

  /** Waits for a storage that is away: LangChain makes a call that nobody could count, and what a call may cost would have no limit. */
  async function ask(asked: Asked): Promise<BudgetHold | undefined> {
    const { counts } = await retryStorage(undefined, countsNow);
    if (stopped) return undefined;
    if (counts.length === 0) return { reservation: null, counts };
    const seconds = elapsed();
    // Of one id and one time, however often it is sent: a connection may be lost before or after the commit.
    const request = { ...asked, id: randomUUID(), run_id, counts, seconds, ttl_ms: HOLD_MS };
    const answer = await retryStorage(undefined, () => store.reserve(request));
    if (!answer.ok) {
      exceed(budgetExceeded(answer, request));
      return undefined;
    }
    countedAt += seconds * 1000;
    return { reservation: answer.reservation, counts };
  }

  function exceed(error: AppError): void {
    stopped ??= error;
    stop.abort(stopped);
  }

  async function countTime(): Promise<void> {
    const { counts } = await countsNow();
    const seconds = elapsed();
    countedAt += seconds * 1000;
    if (counts.length === 0 || seconds === 0) return;
    const spend = { reservation: null, counts, tokens: 0, cost: 0, seconds };
    await retryStorage(undefined, () => store.settle(spend));
  }

  /** A model or a tool that takes long is stopped in its middle, not only before the next one; a limit may be set meanwhile. */
  async function watch(): Promise<void> {
    const { counts, timed } = await countsNow();
    const left = timed ? await store.secondsLeft(counts) : null;
    const wait = left === null ? LOOK_MS : Math.min(LOOK_MS, Math.max(0, (left - elapsed()) * 1000));
    if (ended || stopped) return;
    timer = setTimeout(() => {
      look(timed).catch(onError);
    }, wait);
    timer.unref();
  }

  /** The time so far is counted, also for other runs that share the budget: each would take all that is left for its own. */
  async function look(timed: boolean): Promise<void> {
    if (timed) await ask({ tokens: 0, cost: 0, steps: 0, tool_calls: 0 });
    await retryStorage(stop.signal, watch);
  }

  return {
    signal: stop.signal,
    get stopped() {
      return stopped;
    },
    giveBack: () => store.giveBack(run_id),
    async begin() {
      countedAt = now();
      await watch();
    },
    reserve: ({ tokens, cost }) => ask({ tokens, cost, steps: 1, tool_calls: 0 }),
    async settle({ reservation, counts }, spent) {
      if (counts.length === 0) return;
      await settleOnce(store, { reservation, counts, ...spent, seconds: 0 });
    },
    countToolCall: async () => (await ask({ tokens: 0, cost: 0, steps: 0, tool_calls: 1 })) !== undefined,
    async end() {
      ended = true;
      clearTimeout(timer);
      await countTime();
    },
  };
}

/** A connection may be lost before or after the commit. */
async function settleOnce(store: Pick<BudgetStore, "settle">, spend: BudgetSpend): Promise<void> {
  let asked = false;
  await retryStorage(undefined, async () => {
    const again = asked;
    asked = true;
    await store.settle({ ...spend, again });
  });
}
