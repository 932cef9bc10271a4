import type { Dialect } from "../dialect.ts";
import type { Migration } from "./migration.ts";

/** Definitions made through the API, the revisions that runs began with, what was spent, and what may be. */
export const agentsProvidersBudgets: Migration = {
  version: 6,
  name: "agents-providers-budgets",
  // Programs that know only what was before neither read nor write any of this.
  oldestProgram: 1,
  up: (d) => [
    definitions("agents", d),
    definitions("providers", d),
    ...revisions(d),
    `alter table runs add column callback_url ${d.text}`,
    ...usage(d),
    ...budgets(d),
  ],
};

function definitions(table: string, { text, clustered }: Dialect): string {
  return `create table ${table} (
  scope ${text} not null,
  name ${text} not null,
  definition ${text} not null,
  hash ${text} not null,
  created_at ${text} not null,
  updated_at ${text} not null,
  primary key (scope, name)
)${clustered}`;
}

function revisions({ text, bigint, clustered }: Dialect): string[] {
  return [
    // One row for each kind of definition, raised with every change: nodes look at it instead of at the definitions.
    `create table definition_changes (
  kind ${text} primary key,
  version ${bigint} not null
)`,
    `create table agent_revisions (
  revision ${text} not null,
  scope ${text} not null,
  agent ${text} not null,
  created_at ${text} not null,
  primary key (revision, scope)
)${clustered}`,
  ];
}

/** Outlives runs and sessions: what was spent stays spent. */
function usage({ serial, text, bigint }: Dialect): string[] {
  return [
    `create table run_usage (
  pk ${serial},
  scope ${text} not null,
  session_id ${text} not null,
  run_id ${text} not null,
  agent_name ${text} not null,
  model ${text} not null,
  day ${text} not null,
  input_tokens ${bigint} not null,
  output_tokens ${bigint} not null,
  estimated_cost double precision,
  unique (run_id, model)
)`,
    "create index run_usage_by_day on run_usage (scope, day)",
    "create index run_usage_by_session on run_usage (session_id)",
  ];
}

function budgets({ text, bigint, clustered }: Dialect): string[] {
  return [
    // '' for any agent and any session, since a null is equal to nothing and could stand there twice.
    `create table budgets (
  id ${text} primary key,
  scope ${text} not null,
  agent_name ${text} not null,
  session_id ${text} not null,
  period ${text} not null,
  max_cost double precision,
  max_tokens ${bigint},
  max_steps ${bigint},
  max_tool_calls ${bigint},
  max_seconds double precision,
  created_at ${text} not null,
  updated_at ${text} not null,
  unique (scope, agent_name, session_id, period)
)`,
    // One row for each budget and each stretch that it counts by itself: a day, a month, a run, a session.
    `create table budget_usage (
  budget_id ${text} not null references budgets (id) on delete cascade,
  stretch ${text} not null,
  scope ${text} not null,
  used_cost double precision not null default 0,
  used_tokens ${bigint} not null default 0,
  used_steps ${bigint} not null default 0,
  used_tool_calls ${bigint} not null default 0,
  used_seconds double precision not null default 0,
  reserved_cost double precision not null default 0,
  reserved_tokens ${bigint} not null default 0,
  unpriced_tokens ${bigint} not null default 0,
  primary key (budget_id, stretch)
)${clustered}`,
    // What a crashed node had reserved is found here and given back.
    `create table budget_reservations (
  id ${text} not null,
  budget_id ${text} not null,
  stretch ${text} not null,
  scope ${text} not null,
  cost double precision not null,
  tokens ${bigint} not null,
  expires_at ${bigint} not null,
  primary key (id, budget_id),
  foreign key (budget_id, stretch) references budget_usage (budget_id, stretch) on delete cascade
)${clustered}`,
    "create index budget_reservations_by_expiry on budget_reservations (budget_id, stretch, expires_at)",
  ];
}
