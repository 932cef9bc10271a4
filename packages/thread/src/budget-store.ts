import type { Budget, BudgetLimit, Scope } from "@cognition/contract";

/** Which budget, and which stretch of it: a day, a month, a run, a session, or all time. */
export interface BudgetCount {
  budget_id: string;
  stretch: string;
}

/** A limit as it is set. */
export interface StoredBudget extends BudgetLimit {
  id: string;
  scope: Scope;
}

export interface BudgetReservation {
  /** Sent again under the same one because no answer came, a model call is reserved for once. */
  id?: string;
  /** Whose call it is. */
  run_id: string;
  counts: readonly BudgetCount[];
  /** Of a model call: about what it will take. `cost` is 0 where no price is known. */
  tokens: number;
  cost: number;
  steps: number;
  tool_calls: number;
  /** What the run has been worked on since it was last told. */
  seconds: number;
  /** After so long it counts as left behind by a crash, and is given back. */
  ttl_ms: number;
}

export interface BudgetSpend {
  /** Of `reserve`; null to count what nothing was reserved for. */
  reservation: string | null;
  /** It was sent before and no answer came: it counts only if the reservation is still there. */
  again?: boolean;
  counts: readonly BudgetCount[];
  tokens: number;
  /** Null where no price is known. */
  cost: number | null;
  seconds: number;
}

/** Whether there was room; if not, which limit of which budget stands in the way. */
export type BudgetAnswer =
  | { ok: true; reservation: string }
  | { ok: false; budget: Budget; limit: "cost" | "tokens" | "steps" | "tool_calls" | "seconds" };

/**
 * Limits, and what counts against them. All counting is done in the database, by one statement that adds only if there is
 * room: two nodes can't both take what is left for one.
 */
export interface BudgetStore {
  /** Of exactly this scope, or of all, with what is used and left now. */
  listBudgets(scope?: Scope): Promise<Budget[]>;
  /**
   * Replaces the limits of this scope. One for the same agent, session and period keeps its id and what it has counted; a
   * new one for a day, a month or all time begins with the tokens and the cost that ended runs have used of it already.
   */
  putBudgets(scope: Scope, limits: readonly BudgetLimit[]): Promise<Budget[]>;
  /** The limits of these scopes, without what is used. */
  listLimits(scopes?: readonly Scope[]): Promise<StoredBudget[]>;
  /** Rises with every change of a limit. */
  limitVersion(): Promise<number>;
  /** All of it against every budget, or nothing. Steps and tool calls count at once, tokens and cost when they are settled. */
  reserve(reservation: BudgetReservation): Promise<BudgetAnswer>;
  /** What it came to, in place of what was reserved. Never refused: it is spent. */
  settle(spend: BudgetSpend): Promise<void>;
  /**
   * What was reserved for calls of this run: before it is begun again, since nobody will settle them. One that is settled
   * all the same, by a node that was only slow, counts as spent.
   */
  giveBack(run_id: string): Promise<void>;
  /**
   * Forgets what was counted of days and months that ended before then, of runs that ended before then or are gone, and of
   * sessions that are gone. What was spent stays known (`UsageStore`).
   */
  pruneBudgetUsage(before: Date): Promise<number>;
  /** Seconds left, the least of them all; null without a limit. */
  secondsLeft(counts: readonly BudgetCount[]): Promise<number | null>;
}
