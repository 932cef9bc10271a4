import type { Session } from "@cognition/contract";
import { type Selectable, sql } from "kysely";
import type { Database } from "./database.ts";
import { storedJson } from "./json-text.ts";
import type { Tables } from "./tables.ts";

/** The queue's first: what runs or waits for a human, else what comes next. Literal, so that the index of open runs fits. */
const ACTIVE_RUN = sql<string | null>`(select r.id from runs r
  where r.session_id = s.id and r.status in ('queued', 'running', 'waiting_for_approval') order by r.pk limit 1)`;

export function selectSessions(db: Pick<Database, "q">) {
  return db.q
    .selectFrom("sessions as s")
    .innerJoin("threads as t", "t.thread_id", "s.thread_id")
    .selectAll("s")
    .select(["t.bytes as storage_bytes", ACTIVE_RUN.as("active_run_id")]);
}

export interface SelectedSession extends Selectable<Tables["sessions"]> {
  storage_bytes: number;
  active_run_id: string | null;
}

export function toSession(row: SelectedSession): Session {
  return {
    id: row.id,
    thread_id: row.thread_id,
    title: row.title,
    status: row.status as Session["status"],
    agent_name: row.agent_name,
    config: storedJson(row.config, `The config of session ${row.id}`),
    scopes: storedJson(row.scope, `The scope of session ${row.id}`),
    metadata: storedJson(row.metadata, `The metadata of session ${row.id}`),
    mode: row.mode as Session["mode"],
    message_count: row.message_count,
    workspace_path: row.workspace_path,
    storage_bytes: row.storage_bytes,
    active_run_id: row.active_run_id,
    parent: toParent(row),
    created_at: row.created_at,
    updated_at: row.updated_at,
  };
}

function toParent({ parent_session_id, parent_checkpoint_id }: SelectedSession): Session["parent"] {
  if (parent_session_id === null || parent_checkpoint_id === null) return null;
  return { session_id: parent_session_id, checkpoint_id: parent_checkpoint_id };
}
