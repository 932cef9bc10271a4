import type { Migration } from "./migration.ts";

/** Whether anybody else waits is asked at every message of a scope that has half of a node's places. */
export const queuedRuns: Migration = {
  version: 12,
  name: "queued-runs",
  oldestProgram: 1,
  up: () => ["create index runs_queued on runs (scope) where status = 'queued'"],
};
