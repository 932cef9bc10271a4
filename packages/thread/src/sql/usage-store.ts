import type { GetUsage, Run, Scope, Usage, UsageGroup } from "@cognition/contract";
import { type Insertable, sql } from "kysely";
import type { UsageStore } from "../usage-store.ts";
import type { SqlContext } from "./context.ts";
import { fixedQuery } from "./fixed-query.ts";
import { requireOneOf } from "./input-checks.ts";
import { requireKnown } from "./known-names.ts";
import type { RunRow } from "./run-row.ts";
import { scopeText, scopeTextOf } from "./scope.ts";
import { type Statement, statement } from "./statement.ts";
import type { Tables } from "./tables.ts";

const KEYS: Readonly<Record<UsageGroup, "scope" | "agent_name" | "session_id" | "model" | "day">> = {
  scope: "scope",
  agent: "agent_name",
  session: "session_id",
  model: "model",
  day: "day",
};

export function createUsageStore({ db }: SqlContext): UsageStore {
  function select(query: GetUsage & { scope?: Scope }) {
    let rows = db.q.selectFrom("run_usage").select(({ fn }) => [
      fn.sum<number | string | null>("input_tokens").as("input_tokens"),
      fn.sum<number | string | null>("output_tokens").as("output_tokens"),
      // One unknown price makes the sum unknown: a part would pass for the whole.
      sql<number | null>`case when count(*) = count(estimated_cost) then sum(estimated_cost) end`.as("estimated_cost"),
      sql<number | string>`count(distinct run_id)`.as("runs"),
    ]);
    if (query.scope !== undefined) rows = rows.where("scope", "=", scopeText(query.scope));
    if (query.from !== undefined) rows = rows.where("day", ">=", query.from);
    if (query.to !== undefined) rows = rows.where("day", "<=", query.to);
    if (query.session_id !== undefined) rows = rows.where("session_id", "=", query.session_id);
    if (query.agent_name !== undefined) rows = rows.where("agent_name", "=", query.agent_name);
    return rows;
  }

  return {
    getUsage: async (query) => {
      requireKnown("Usage", query, ["group_by", "from", "to", "session_id", "agent_name", "scope"]);
      requireOneOf("group_by", query.group_by, Object.keys(KEYS));
      const key = KEYS[query.group_by];
      const grouped = select(query).select(`${key} as key`).groupBy(key).orderBy(key);
      const [rows, total] = await db.readAll([statement(grouped), statement(select(query))], scopeTextOf(query.scope));
      return {
        group_by: query.group_by,
        rows: (rows?.rows ?? []).map((row) => ({ key: String(row["key"]), ...toCounts(row) })),
        total: toCounts(total?.rows[0] ?? {}),
      };
    },
  };
}

function toCounts(row: Record<string, unknown>): Usage["total"] {
  const runs = Number(row["runs"] ?? 0);
  const cost = row["estimated_cost"] ?? null;
  return {
    input_tokens: Number(row["input_tokens"] ?? 0),
    output_tokens: Number(row["output_tokens"] ?? 0),
    // Nothing used cost nothing; that is known.
    estimated_cost: runs === 0 ? 0 : cost === null ? null : Number(cost),
    runs,
  };
}

/** What the run has used, one row for each model; nothing for a run that called none. */
export function insertUsage({ db }: SqlContext, run: RunRow, usage: Run["usage"], at: string): Statement[] {
  const models = Object.entries(usage?.by_model ?? {});
  if (models.length === 0) return [];
  const { scope, session_id, id: run_id, agent_name } = run;
  return models.map(([model, { input_tokens, output_tokens, estimated_cost }]) =>
    insertRow(db, {
      ...{ scope, session_id, run_id, agent_name, model, day: at.slice(0, "YYYY-MM-DD".length) },
      ...{ input_tokens, output_tokens, estimated_cost },
    }),
  );
}

const insertRow = fixedQuery<Insertable<Tables["run_usage"]>>(({ q }, row) =>
  q.insertInto("run_usage").values({
    scope: row.scope,
    session_id: row.session_id,
    run_id: row.run_id,
    agent_name: row.agent_name,
    model: row.model,
    day: row.day,
    input_tokens: row.input_tokens,
    output_tokens: row.output_tokens,
    estimated_cost: row.estimated_cost,
  }),
);
