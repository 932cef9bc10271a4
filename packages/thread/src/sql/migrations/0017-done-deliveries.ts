import type { Migration } from "./migration.ts";

/**
 * Deliveries that are done are found by their age. Those of sessions that were deleted before had stayed, with what was
 * said there.
 */
export const doneDeliveries: Migration = {
  version: 17,
  name: "done-deliveries",
  oldestProgram: 1,
  up: () => [
    `delete from deliveries where status <> 'pending'
  and not exists (select 1 from sessions where sessions.id = deliveries.session_id)`,
    "create index deliveries_done on deliveries (created_at) where status <> 'pending'",
  ],
};
