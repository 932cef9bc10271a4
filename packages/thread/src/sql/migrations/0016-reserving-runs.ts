import type { Migration } from "./migration.ts";

/** A reservation says for whose call it was made: a run that is begun again gives back what its dead node had reserved. */
export const reservingRuns: Migration = {
  version: 16,
  name: "reserving-runs",
  oldestProgram: 1,
  up: () => [
    "alter table budget_reservations add column run_id text",
    "create index budget_reservations_by_run on budget_reservations (run_id)",
  ],
};
