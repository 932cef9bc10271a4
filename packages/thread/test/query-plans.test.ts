import { describe, expect, test } from "vitest";
import { deliveryContract } from "../src/conformance/delivery-contract.ts";
import { eventContract } from "../src/conformance/event-contract.ts";
import { idempotencyContract } from "../src/conformance/idempotency-contract.ts";
import { journalContract } from "../src/conformance/journal-contract.ts";
import { messageContract } from "../src/conformance/message-contract.ts";
import { runContract } from "../src/conformance/run-contract.ts";
import { sessionContract } from "../src/conformance/session-contract.ts";
import { taskContract } from "../src/conformance/task-contract.ts";
import { openSqliteFile } from "./engines.ts";
import { collectStatements, planner, schema } from "./prepared-statements.ts";

const statements = collectStatements();

describe("what is asked of a database", () => {
  sessionContract(openSqliteFile);
  messageContract(openSqliteFile);
  runContract(openSqliteFile);
  eventContract(openSqliteFile);
  journalContract(openSqliteFile);
  deliveryContract(openSqliteFile);
  idempotencyContract(openSqliteFile);
  taskContract(openSqliteFile);
});

/** Read from their beginning until a page is full, or counted: for people and probes, never in the way of a run. */
const LISTS =
  /offset \?|^select count\(\*\)|order by "t"."(created|updated)_at"|schema_migrations|json_each\(s\.metadata\)|where 1 = 1$/;
/** Indexes that hold only what is open: they stay short however much there was. */
const OPEN_RUNS = /USING INDEX (runs_claimable|runs_in_line)$/;
/** Not of a table: what the statement itself brings along. */
const BROUGHT = /^SCAN (\d+ |\d+-ROW |)(CONSTANT|VALUES)|VIRTUAL TABLE|^SCAN (v|chain|due|ids)$/;

test("never goes through a whole table, which would cost more with every conversation there is", () => {
  const plan = planner();
  // Once in a database's life, and of columns that may be gone after it.
  const migrating = new Set(schema);
  const asked = [...statements].filter((sql) => !migrating.has(sql));
  const queries = asked.map((sql) => sql.replaceAll(/\s+/g, " ").trim());
  const scans = queries
    .filter((sql) => /^(select|insert|update|delete|with)\b/.test(sql) && !LISTS.test(sql))
    .flatMap((sql) => {
      const found = plan(sql).filter((step) => /^SCAN/.test(step) && !OPEN_RUNS.test(step) && !BROUGHT.test(step));
      return found.map((step) => `${step}: ${sql}`);
    });
  expect(queries.length).toBeGreaterThan(200);
  expect(scans).toEqual([]);
});

test("has no bare parameter for a limit, at each value of which SQLite would prepare it anew", () => {
  const limited = [...statements].filter((sql) => /\blimit\b/.test(sql));
  expect(limited.length).toBeGreaterThan(10);
  expect(limited.filter((sql) => /limit \?/.test(sql))).toEqual([]);
});
