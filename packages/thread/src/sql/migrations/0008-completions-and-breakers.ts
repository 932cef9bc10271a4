import type { Dialect } from "../dialect.ts";
import type { Migration } from "./migration.ts";
import { scopedRows, serverRows } from "./row-policy.ts";

/** That a task was completed, so that a second call finds it so; and which services the nodes leave alone for now. */
export const completionsAndBreakers: Migration = {
  version: 8,
  name: "completions-and-breakers",
  // A program that does not know them completes tasks without a trace, and minds its own breakers.
  oldestProgram: 1,
  up: (d) => [
    ...completions(d),
    ...breakers(d),
    ...(d.name === "sqlite" ? [] : [...scopedRows("completed_tasks"), ...serverRows("circuit_breakers")]),
  ],
};

function completions({ text, clustered }: Dialect): string[] {
  return [
    `create table completed_tasks (
  scope ${text} not null,
  task_id ${text} not null,
  user_id ${text} not null,
  conversation_id ${text} not null references sessions (id) on delete cascade,
  completed_at ${text} not null,
  primary key (scope, task_id)
)${clustered}`,
    "create index completed_tasks_by_conversation on completed_tasks (conversation_id)",
  ];
}

/** Unlogged on PostgreSQL: it is worth a minute, and after a crash every service is tried anew. */
function breakers({ name, bigint, text, clustered }: Dialect): string[] {
  return [
    `create ${name === "postgres" ? "unlogged " : ""}table circuit_breakers (
  scope ${text} not null,
  name ${text} not null,
  failures ${bigint} not null,
  open_until ${bigint} not null,
  primary key (scope, name)
)${clustered}`,
  ];
}
