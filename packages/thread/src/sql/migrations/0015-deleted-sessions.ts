import type { Migration } from "./migration.ts";

/** A deleted thread remembers whose it was: a node that was away meanwhile finds out which of its folders are nobody's. */
export const deletedSessions: Migration = {
  version: 15,
  name: "deleted-sessions",
  oldestProgram: 1,
  up: () => [
    "alter table threads add column deleted_session text",
    "create index threads_by_deleted_session on threads (deleted_session) where deleted_session is not null",
  ],
};
