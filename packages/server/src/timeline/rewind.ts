import { AppError, type RewindResult, type RewindSession, type Session } from "@cognition/contract";
import type { Storage, TimelineEntry } from "@cognition/thread";
import { filesAt, findHead, findPlace, type Place } from "./find-place.ts";
import { modeAfter } from "./undone-plan.ts";
import { keepTheirs } from "./workspace/keep-theirs.ts";
import type { PathChange } from "./workspace/path-change.ts";
import type { Workspaces } from "./workspace/workspaces.ts";

export interface RewindParts {
  storage: Storage;
  workspaces: Workspaces;
}

/**
 * Puts a session back. All that is stored moves in one commit; the files of this node's folder follow, and if the process
 * dies before they have, the next one that needs them finishes it.
 */
export async function rewind(parts: RewindParts, session: Session, body: RewindSession): Promise<RewindResult> {
  const { storage, workspaces } = parts;
  refuseWhileBusy(session);
  const place = await findPlace(storage, session, body);
  const head = await findHead(storage, session);
  if (!place || !head) throw new AppError("nothing_to_rewind", `Session ${session.id} has no checkpoint yet`);
  await workspaces.settle(session, false);
  const planned = body.restore.includes("files");
  const files = planned ? await planFiles(parts, session, { place, head, force: body.force }) : undefined;
  const changed = files ? await workspaces.describe(session.scopes, files.changes) : [];
  if (body.dry_run) return { previous_head: head.checkpoint_id, head: place.checkpoint_id, files: changed };
  const conversation = body.restore.includes("conversation");
  const moved = await storage.timeline.rewindSession({
    session_id: session.id,
    checkpoint_id: place.checkpoint_id,
    expected_head: head.checkpoint_id,
    conversation,
    artifacts: body.restore.includes("artifacts"),
    memory: body.restore.includes("memory"),
    ...(place.written_at !== undefined && { written_at: place.written_at }),
    ...(files && { snapshot_id: files.snapshot_id, files_stand_at: files.stand_at, expected_snapshot: files.stood }),
    ...(conversation && (await modeAfter(storage, session, head.checkpoint_id, place.checkpoint_id))),
  });
  if (files) await workspaces.settle(session, body.force);
  return { ...moved, files: changed };
}

/** The storage decides; this only spares the caller a list of files that are being changed. */
function refuseWhileBusy({ id, active_run_id, status }: Session): void {
  if (active_run_id === null) return;
  const waits = status === "waiting_for_approval";
  throw new AppError(
    waits ? "waiting_for_approval" : "session_busy",
    `Session ${id} ${waits ? "waits for an answer to" : "is busy with"} run ${active_run_id}; nothing was changed. ` +
      "Abort it, or wait for its end.",
    { details: { run_id: active_run_id } },
  );
}

interface Way {
  place: Place;
  head: Pick<TimelineEntry, "snapshot_id">;
  force: boolean;
}

interface PlannedFiles {
  snapshot_id: string;
  stand_at: string;
  stood: string;
  changes: PathChange[];
}

async function planFiles(parts: RewindParts, session: Session, { place, head, force }: Way): Promise<PlannedFiles> {
  const { storage, workspaces } = parts;
  const instead = 'Nothing was changed; send restore: ["conversation"] to go there without them.';
  const snapshot_id = await filesAt(storage, session, place, instead);
  const stood = await workspaces.standing(session);
  const kept = await keepTheirs(storage.snapshots, session.scopes, {
    head: head.snapshot_id ?? stood,
    stood,
    to: snapshot_id,
  });
  const { changes, conflicts } = await workspaces.plan(session, stood, kept.tree);
  refuseConflicts([...new Set([...kept.conflicts, ...conflicts])], force);
  return { snapshot_id, stand_at: kept.tree, stood, changes };
}

function refuseConflicts(conflicts: readonly string[], force: boolean): void {
  if (conflicts.length === 0 || force) return;
  throw new AppError(
    "file_conflict",
    `${conflicts.length} of the files to restore were changed by others since: ${conflicts.slice(0, 5).join(", ")}` +
      `${conflicts.length > 5 ? " …" : ""}. Nothing was changed. Send force: true to overwrite them.`,
    { details: { files: conflicts } },
  );
}
