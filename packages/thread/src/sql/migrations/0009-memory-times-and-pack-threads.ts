import type { Migration } from "./migration.ts";

/** When an item that a tool changed would have run out, and which thread's files a pack holds. */
export const memoryTimesAndPackThreads: Migration = {
  version: 9,
  name: "memory-times-and-pack-threads",
  // A program that does not know them leaves them empty: what it wrote goes back without a time, and counts for nobody.
  oldestProgram: 1,
  up: ({ bigint }) => [
    `alter table memory_changes add column before_ttl_ms ${bigint}`,
    `alter table memory_changes add column before_expires_at ${bigint}`,
    `alter table memory_changes add column after_ttl_ms ${bigint}`,
    `alter table memory_changes add column after_expires_at ${bigint}`,
    `alter table snapshot_packs add column thread ${bigint}`,
  ],
};
