import type { Session } from "@cognition/contract";
import { sql } from "kysely";
import type { RunSession } from "../run-store.ts";
import { storedJson } from "./json-text.ts";

/** The columns of a session that a run needs, but for its id, which the run has. */
export interface RunSessionRow {
  thread_id: string;
  agent_name: string;
  config: string;
  scope: string;
  metadata: string;
  mode: string;
  workspace_path: string | null;
  /** PostgreSQL says so in words, SQLite in numbers. */
  has_task: number | boolean;
}

/** To be selected beside others. */
export function runSessionColumns<T extends string>(sessions: T) {
  return [
    `${sessions}.thread_id`,
    `${sessions}.agent_name`,
    `${sessions}.config`,
    `${sessions}.scope`,
    `${sessions}.metadata`,
    `${sessions}.mode`,
    `${sessions}.workspace_path`,
    sql<number>`exists (select 1 from task_workspaces w where w.conversation_id = ${sql.ref(`${sessions}.id`)})`.as(
      "has_task",
    ),
  ] as const;
}

export function toRunSession(id: string, row: RunSessionRow): RunSession {
  return {
    id,
    thread_id: row.thread_id,
    agent_name: row.agent_name,
    config: storedJson(row.config, `The config of session ${id}`),
    scopes: storedJson(row.scope, `The scope of session ${id}`),
    metadata: storedJson(row.metadata, `The metadata of session ${id}`),
    mode: row.mode as Session["mode"],
    workspace_path: row.workspace_path,
    has_task: Boolean(row.has_task),
  };
}
