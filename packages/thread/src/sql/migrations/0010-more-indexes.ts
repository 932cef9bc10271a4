import type { Migration } from "./migration.ts";

/** A session's forks and its deliveries are found by it: else a deletion, a rewind or a list would read those of all sessions. */
export const moreIndexes: Migration = {
  version: 10,
  name: "more-indexes",
  oldestProgram: 1,
  up: () => [
    "create index sessions_by_parent on sessions (parent_session_id) where parent_session_id is not null",
    "create index deliveries_by_session on deliveries (session_id, pk)",
  ],
};
