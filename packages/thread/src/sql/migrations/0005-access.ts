import type { Dialect } from "../dialect.ts";
import type { Migration } from "./migration.ts";

/** Keys to the API, and the rates that many nodes share. */
export const access: Migration = {
  version: 5,
  name: "access",
  oldestProgram: 1,
  up: (d) => [...apiKeys(d), ...rateLimits(d)],
};

function apiKeys({ serial, bigint, text }: Dialect): string[] {
  return [
    `create table api_keys (
  pk ${serial},
  id ${text} not null unique,
  prefix ${text} not null unique,
  hash ${text} not null,
  name ${text} not null,
  scope ${text},
  admin ${bigint} not null default 0,
  created_at ${text} not null,
  last_used_at ${text},
  expires_at ${text},
  revoked_at ${text}
)`,
  ];
}

/** Unlogged on PostgreSQL: a write for every request must not wait for a disk, and after a crash every bucket is full. */
function rateLimits({ name, bigint, text, clustered }: Dialect): string[] {
  return [
    `create ${name === "postgres" ? "unlogged " : ""}table rate_limits (
  scope ${text} not null primary key,
  full_at ${bigint} not null
)${clustered}`,
  ];
}
