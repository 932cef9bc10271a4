import type { Migration } from "./migration.ts";

/** A write says where its task stands in its step: the updates of a delta channel are replayed in the order in which they were applied. */
export const taskPaths: Migration = {
  version: 18,
  name: "task-paths",
  // Programs before it can't read long maps, Maps, Sets and lists of texts as they have been stored since ADR 16.
  oldestProgram: 13,
  up: ({ text }) => [`alter table checkpoint_writes add column task_path ${text} not null default ''`],
};
