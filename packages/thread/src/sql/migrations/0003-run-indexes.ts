import type { Migration } from "./migration.ts";

/**
 * What is open is found by its session and what can be claimed in its order, each without a look at runs that have
 * ended: with an index by status both engines went through the whole history for every claim.
 */
export const runIndexes: Migration = {
  version: 3,
  name: "run-indexes",
  oldestProgram: 1,
  up: () => [
    "drop index runs_open",
    "drop index runs_in_line",
    "create index runs_in_line on runs (session_id, pk) where status in ('queued', 'running', 'waiting_for_approval')",
    "create index runs_claimable on runs (pk) where status in ('queued', 'running')",
  ],
};
