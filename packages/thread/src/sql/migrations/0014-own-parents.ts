import type { Migration } from "./migration.ts";

/** Checkpoints that were put once more with durability "exit" had become their own parents: a walk up from one never ended. */
export const ownParents: Migration = {
  version: 14,
  name: "own-parents",
  oldestProgram: 1,
  up: () => ["update checkpoints set parent_id = null where parent_id = checkpoint_id"],
};
