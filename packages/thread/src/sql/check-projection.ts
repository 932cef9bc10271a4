import { AppError } from "@cognition/contract";
import type { WriterLease } from "../checkpoint/lease.ts";
import type { ProjectedRows, ShownFields } from "../checkpoint/projected-rows.ts";
import type { RebuildReport } from "../message-store.ts";
import type { SqlContext } from "./context.ts";
import type { Database } from "./database.ts";
import { perDialect, prepared } from "./dialect.ts";
import { isAway } from "./errors.ts";
import { createMessageProjection } from "./message-projection.ts";
import type { MessageRow } from "./message-row.ts";
import type { QueryResult, Statement } from "./statement.ts";

/** They undo the transaction that has found rows which don't say what their checkpoint says, or not as many as were counted. */
const ROWS_DIFFER = new AppError("corrupt_data", "The message rows do not say what the checkpoint says");
const COUNT_DIFFERS = new AppError("corrupt_data", "There are not as many message rows as were counted");

export function isDifference(error: unknown): error is AppError {
  return error === ROWS_DIFFER || error === COUNT_DIFFERS;
}

/** The rows that the run has written, and whether there are as many in all as were counted. */
export function selectProjected({ dialect }: Database, { session_id, ids }: ProjectedRows): Statement {
  return prepared(dialect, SELECT_PROJECTED(dialect), [JSON.stringify(ids), session_id]);
}

const SELECT_PROJECTED = perDialect(
  ({ eachText }) => `select s.message_count,
      (select count(*) from messages c where c.session_id = s.id and c.position is not null) as placed,
      m.*
    from sessions s left join messages m on m.session_id = s.id and m.id in (${eachText}) where s.id = ?`,
);

/** Throws one of these. A session that is gone has no rows to be wrong. */
export function requireProjected(projected: ProjectedRows, found: QueryResult | undefined): void {
  const rows = (found?.rows ?? []) as unknown as (MessageRow & { message_count: number; placed: number })[];
  const [session] = rows;
  if (!session) return;
  if (Number(session.placed) !== Number(session.message_count)) throw COUNT_DIFFERS;
  const byId = new Map(rows.map((row) => [row.id, row]));
  let last = 0;
  for (const id of projected.ids) {
    const row = byId.get(id);
    const place = Number(row?.position ?? 0);
    if (!row || place <= last || row.left_state !== null || !projected.agrees(id, row as ShownFields))
      throw ROWS_DIFFER;
    last = place;
  }
}

/**
 * Before the run leaves its node: whoever sees its end finds the messages right. What can't be repaired keeps no run from
 * ending; a storage that is away says nothing of that, and the run stays until it is back.
 */
export async function repairProjection(
  ctx: SqlContext,
  { projected, repaired }: WriterLease,
  reason: AppError,
): Promise<void> {
  if (!projected) return;
  const { session_id } = projected;
  let outcome: RebuildReport | Error;
  try {
    outcome = await createMessageProjection(ctx).rebuildMessages(session_id);
  } catch (error) {
    if (isAway(error)) throw error;
    outcome = error as Error;
  }
  // A graph that puts its messages into another order may look like damage, and the rebuild then finds none.
  if (reason === COUNT_DIFFERS || outcome instanceof Error || changesOf(outcome) > 0) {
    repaired?.({ session_id, outcome });
  }
}

function changesOf({ repaired, added, removed }: RebuildReport): number {
  return repaired + added + removed;
}
