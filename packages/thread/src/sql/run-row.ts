import { Run } from "@cognition/contract";
import { type Selectable, sql } from "kysely";
import { storedJson } from "./json-text.ts";
import type { Tables } from "./tables.ts";

export type RunRow = Selectable<Tables["runs"]>;
/** All but what the database gives it by itself. */
export type RunColumns = Omit<RunRow, "pk" | "compacted_at">;

/** What still stands in its thread's line. Literals, so that the index of just these fits, however long the history. */
export const IS_OPEN = sql<boolean>`status in ('queued', 'running', 'waiting_for_approval')`;

/** What callers see of a run. Its input, which may be as large as a body, is for whoever works on it. */
export const RUN_FIELDS = Object.keys(Run.shape) as (keyof Run)[];

export function toRun(row: Pick<RunColumns, keyof Run>): Run {
  return {
    id: row.id,
    session_id: row.session_id,
    status: row.status as Run["status"],
    attempt: row.attempt,
    resumes: row.resumes,
    agent_name: row.agent_name,
    agent_revision: row.agent_revision,
    model: row.model,
    usage: row.usage === null ? null : storedJson(row.usage, `The usage of run ${row.id}`),
    error: row.error === null ? null : storedJson(row.error, `The error of run ${row.id}`),
    trace_id: row.trace_id,
    checkpoint_id: row.checkpoint_id,
    created_at: row.created_at,
    started_at: row.started_at,
    finished_at: row.finished_at,
  };
}
