import type { GetUsage, Scope, Usage } from "@cognition/contract";

/** What runs have used. A run's rows are part of the commit that ends it, and outlive the run and its session. */
export interface UsageStore {
  /** Sums by `group_by`, in the order of their keys. With a scope, of exactly that scope. A run counts once in a row. */
  getUsage(query: GetUsage & { scope?: Scope }): Promise<Usage>;
}
