import type { Dialect } from "../dialect.ts";
import type { Migration } from "./migration.ts";

/** Files of workspaces at checkpoints, and what it takes to go back to one: artifacts and memory written since. */
export const snapshots: Migration = {
  version: 4,
  name: "snapshots",
  oldestProgram: 1,
  up: (d) => [...objects(d), ...workspaces(d), ...timeline(d)],
};

/**
 * Objects are named by what they hold, within their scope. Many small ones share a row of bytes, a pack: a row for each
 * would cost more than the files of a usual project.
 */
function objects({ serial, bigint, bytes, text, clustered }: Dialect): string[] {
  return [
    `create table snapshot_scopes (
  scope ${text} not null primary key,
  bytes ${bigint} not null default 0
)${clustered}`,
    `create table snapshot_packs (
  pk ${serial},
  scope ${text} not null,
  encoding ${text} not null,
  size ${bigint} not null,
  content ${bytes} not null,
  created_ms ${bigint} not null
)`,
    "create index snapshot_packs_by_scope on snapshot_packs (scope, pk)",
    `create table snapshot_objects (
  scope ${text} not null,
  hash ${text} not null,
  kind ${text} not null,
  base ${text},
  pack ${bigint} not null,
  start ${bigint} not null,
  size ${bigint} not null,
  primary key (scope, hash)
)${clustered}`,
  ];
}

/** Where the files of a thread stand. Moving this row is what restores them: every node brings its folder to it. */
function workspaces({ bigint, text, clustered }: Dialect): string[] {
  return [
    `create table workspaces (
  thread ${bigint} not null primary key,
  scope ${text} not null,
  snapshot_id ${text} not null,
  updated_at ${text} not null
)${clustered}`,
    "create index workspaces_by_scope on workspaces (scope)",
    `alter table checkpoints add column snapshot ${text}`,
  ];
}

function timeline({ serial, bigint, text }: Dialect): string[] {
  return [
    // 1 for a fork whose message rows nobody has needed yet: they are made from its checkpoint when somebody does.
    `alter table sessions add column inherits ${bigint} not null default 0`,
    // 1 for an artifact that was made after the point its session was put back to.
    `alter table artifacts add column undone ${bigint} not null default 0`,
    `create table memory_changes (
  pk ${serial},
  thread ${bigint} not null,
  checkpoint_id ${text},
  scope ${text} not null,
  namespace ${text} not null,
  key ${text} not null,
  before ${text},
  after ${text},
  created_at ${text} not null
)`,
    "create index memory_changes_by_thread on memory_changes (thread, pk)",
  ];
}
