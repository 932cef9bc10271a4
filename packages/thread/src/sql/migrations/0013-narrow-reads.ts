import type { Migration } from "./migration.ts";

/**
 * What is past its time is found by its scope, without a look at the rest. SQLite keeps a long value in a chain of pages
 * and follows it to whatever column comes after; so what is listed of an artifact's versions is in an index as well, and
 * when a pack was made. PostgreSQL keeps long values apart, and takes no index entry as long as a reason may be.
 */
export const narrowReads: Migration = {
  version: 13,
  name: "narrow-reads",
  oldestProgram: 1,
  up: ({ name }) => [
    "drop index store_items_by_expiry",
    "create index store_items_by_expiry on store_items (scope, expires_at) where expires_at is not null",
    "create index snapshot_packs_by_age on snapshot_packs (scope, created_ms)",
    ...(name === "sqlite"
      ? [
          `create index artifact_versions_without_content on artifact_versions
  (artifact_id, version, content_type, size, hash, reason, run_id, checkpoint_id, created_at)`,
        ]
      : []),
  ],
};
