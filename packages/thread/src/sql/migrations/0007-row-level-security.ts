import type { Migration } from "./migration.ts";
import { REQUEST_ROLE, scopedRows, serverRows, sharedRows } from "./row-policy.ts";

/**
 * A second wall on PostgreSQL: whoever reads as the request role, or with a scope set, sees that scope's rows and no
 * other, whatever the statement says. SQLite has no such thing, and its one file no second user.
 */
export const rowLevelSecurity: Migration = {
  version: 7,
  name: "row-level-security",
  oldestProgram: 1,
  up: (d) => (d.name === "sqlite" ? [] : [...role(), ...unscoped(), ...policies()]),
};

/**
 * Roles belong to the whole server: another of its databases may have made this one, and may be making it now. A user
 * that may not make roles does without: being a plain user, the policies hold for it, and a setting narrows its reads.
 */
function role(): string[] {
  return [
    `do $$
begin
  if not exists (select from pg_roles where rolname = '${REQUEST_ROLE}') then
    create role ${REQUEST_ROLE} nologin;
  end if;
exception when duplicate_object or unique_violation or insufficient_privilege then null;
end $$`,
    `do $$
begin
  if exists (select from pg_roles where rolname = current_user and rolbypassrls and not rolsuper) then
    execute format('grant ${REQUEST_ROLE} to %I', current_user);
  end if;
exception when undefined_object or insufficient_privilege then null;
end $$`,
    `do $$
begin
  execute format('grant usage on schema %I to ${REQUEST_ROLE}', current_schema());
exception when undefined_object or insufficient_privilege then null;
end $$`,
  ];
}

/** The server's own work: no scope is set. Never true for the request role, which without a scope sees nothing. */
function unscoped(): string[] {
  return [
    `create function cognition_unscoped() returns boolean language sql stable parallel safe as $$
  select coalesce(current_setting('cognition.scope', true), '') = '' and current_user <> '${REQUEST_ROLE}'
$$`,
  ];
}

function policies(): string[] {
  return [
    ...SCOPED.flatMap((table) => scopedRows(table)),
    ...["events", "checkpoints", "checkpoint_writes"].flatMap((table) =>
      sharedRows(table, `select from threads where threads.pk = ${table}.thread`),
    ),
    ...sharedRows("pieces", "select from threads where threads.pk = pieces.lineage"),
    ...sharedRows("artifact_versions", "select from artifacts where artifacts.id = artifact_versions.artifact_id"),
    ...["api_keys", "rate_limits", "definition_changes"].flatMap((table) => serverRows(table)),
  ];
}

/** With the scope on each row. */
const SCOPED = [
  "threads",
  "sessions",
  "messages",
  "runs",
  "tool_calls",
  "deliveries",
  "idempotency_keys",
  "store_items",
  "artifacts",
  "user_profiles",
  "task_workspaces",
  "chats",
  "chat_messages",
  "snapshot_scopes",
  "snapshot_packs",
  "snapshot_objects",
  "workspaces",
  "memory_changes",
  "agents",
  "providers",
  "agent_revisions",
  "run_usage",
  "budgets",
  "budget_usage",
  "budget_reservations",
];
