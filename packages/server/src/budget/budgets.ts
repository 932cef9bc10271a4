import type { Run, Session } from "@cognition/contract";
import type { BudgetCount, Storage, StoredBudget } from "@cognition/thread";
import { scopeChain } from "../agent/scope-chain.ts";
import { createVersionedCache } from "../definition/versioned-cache.ts";
import { createRunBudget, type RunBudget } from "./run-budget.ts";

export interface Budgets {
  /** What a run may spend: by the budgets of its scope and of wider ones, for its agent and its session. */
  open(run: Run, session: Pick<Session, "id" | "scopes">): RunBudget;
  /** After a change of this node's own. */
  changed(): void;
}

export interface BudgetsOptions {
  readonly storage: Pick<Storage, "budgets" | "getRun">;
  readonly now?: () => number;
  readonly clock?: () => Date;
  /** See `createVersionedCache`: how long a new budget may stay unknown here. A limit that is raised counts at once. */
  readonly maxAgeMs?: number;
  readonly onError: (error: unknown) => void;
}

/** A session that was resumed more often than this is somebody's loop. */
const MAX_RESUMES = 1_000;

export function createBudgets(options: BudgetsOptions): Budgets {
  const { storage, now = () => performance.now(), clock = () => new Date(), maxAgeMs, onError } = options;
  const { budgets } = storage;
  const cache = createVersionedCache({ list: budgets.listLimits, version: budgets.limitVersion, now, maxAgeMs });

  /** Where the work began: who resumes a run goes on with its allowance, and does not get a new one. */
  async function firstRun(run: Run): Promise<string> {
    let first = run;
    for (let n = 0; first.resumes !== null && n < MAX_RESUMES; n++) first = await storage.getRun(first.resumes);
    return first.id;
  }

  return {
    changed: cache.changed,
    open(run, { id: session_id, scopes }) {
      const chain = scopeChain(scopes);
      let first: Promise<string> | undefined;

      async function countsNow() {
        const limits = (await cache.list(chain)).filter(
          (limit) =>
            (limit.agent_name ?? run.agent_name) === run.agent_name && (limit.session_id ?? session_id) === session_id,
        );
        if (limits.some(({ period }) => period === "run")) first ??= firstRun(run);
        const run_id = (await first) ?? run.id;
        const counts = limits.map((limit) => countOf(limit, { run_id, session_id, at: clock().toISOString() }));
        return { counts, timed: limits.some(({ max_seconds }) => max_seconds !== null) };
      }

      return createRunBudget({ store: budgets, run_id: run.id, countsNow, now, onError });
    },
  };
}

function countOf({ id, period }: StoredBudget, by: { run_id: string; session_id: string; at: string }): BudgetCount {
  const stretches: Record<StoredBudget["period"], string> = {
    day: by.at.slice(0, "YYYY-MM-DD".length),
    month: by.at.slice(0, "YYYY-MM".length),
    total: "",
    session: by.session_id,
    run: by.run_id,
  };
  return { budget_id: id, stretch: stretches[period] };
}
