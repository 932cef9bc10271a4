import type { NewEvent } from "../event-log.ts";
import type { Channels } from "./checkpoint-body.ts";
import type { ProjectedChange } from "./project-checkpoint.ts";
import type { CheckpointInsert, WriteInsert } from "./write-statements.ts";

/** What one call of `put` or `putWrites` wants to be written. */
export interface WriteOp {
  writes?: WriteInsert[];
  checkpoint?: CheckpointInsert & { channels: Channels };
  /** The head the writer has seen, when the write must come right after it. */
  expectedHead?: string | null | undefined;
  events?: NewEvent[];
  /** The session's messages follow the checkpoint in the same commit. */
  projection?: {
    session_id: string;
    /** What to change, if the head is still `after`; otherwise, and without it, all rows are made anew. */
    rows?: { after: string | null; change: ProjectedChange } | undefined;
  };
}

/** The head that the writer has seen, if it has: whatever came after that, it must not overwrite. */
export function expectedHead(ops: readonly WriteOp[]): string | null | undefined {
  return firstOnRoot(ops)?.expectedHead;
}

export function projectedAfter(ops: readonly WriteOp[]): string | null | undefined {
  return firstOnRoot(ops)?.projection?.rows?.after;
}

/** Those after it come after it, not after the head that is there before the commit. */
function firstOnRoot(ops: readonly WriteOp[]): WriteOp | undefined {
  return ops.find((op) => op.checkpoint?.ns === "");
}

/** By session: how its rows change, if that is known beforehand. */
export function projectedChanges(ops: readonly WriteOp[]): Map<string, ProjectedChange[]> {
  const changes = new Map<string, ProjectedChange[]>();
  const rebuilt = rebuiltSessions(ops);
  for (const { projection } of ops) {
    if (!projection?.rows || rebuilt.has(projection.session_id)) continue;
    const { session_id, rows } = projection;
    const known = changes.get(session_id);
    if (known) known.push(rows.change);
    else changes.set(session_id, [rows.change]);
  }
  return changes;
}

/** Those whose rows only a rebuild can set right. */
export function rebuiltSessions(ops: readonly WriteOp[]): Set<string> {
  return new Set(ops.flatMap(({ projection }) => (projection && !projection.rows ? projection.session_id : [])));
}

/** The writer branches on purpose, off a head that has moved: its rows are not known beforehand. */
export function rebuildInstead(ops: readonly WriteOp[]): void {
  for (const { projection } of ops) if (projection) projection.rows = undefined;
}
