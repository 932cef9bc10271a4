import { AppError, type RewindResult, type RewindSession, type Session } from "@cognition/contract";
import { EMPTY_TREE, type Storage } from "@cognition/thread";
import { findHead, findPlace, type Place } from "./find-place.ts";
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
  const files = body.restore.includes("files") ? await planFiles(parts, session, place, body.force) : undefined;
  const changed = files ? await workspaces.describe(session.scopes, files.changes) : [];
  if (body.dry_run) return { previous_head: head.checkpoint_id, head: place.checkpoint_id, files: changed };
  const moved = await storage.timeline.rewindSession({
    session_id: session.id,
    checkpoint_id: place.checkpoint_id,
    expected_head: head.checkpoint_id,
    conversation: body.restore.includes("conversation"),
    artifacts: body.restore.includes("artifacts"),
    memory: body.restore.includes("memory"),
    ...(place.written_at !== undefined && { written_at: place.written_at }),
    ...(files && { snapshot_id: files.snapshot_id }),
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

async function planFiles(
  { storage, workspaces }: RewindParts,
  session: Session,
  place: Place,
  force: boolean,
): Promise<{ snapshot_id: string; changes: PathChange[] }> {
  // A session that never had files of its own has none to bring back, at any of its points.
  const hadFiles = place.snapshot_id !== null || (await storage.snapshots.currentSnapshot(session.thread_id)) !== null;
  const snapshot_id = hadFiles ? place.snapshot_id : EMPTY_TREE;
  if (snapshot_id === null) {
    const message =
      "The files of that point are not stored: they were let go to keep within the quota, or the point is from a time " +
      "before files were. Nothing was changed; " +
      'send restore: ["conversation"] to go there without them.';
    throw new AppError("snapshot_not_found", message);
  }
  const { changes, conflicts } = await workspaces.plan(session, await workspaces.standing(session), snapshot_id);
  if (conflicts.length === 0 || force) return { snapshot_id, changes };
  throw new AppError(
    "file_conflict",
    `${conflicts.length} of the files to restore were changed by others since: ${conflicts.slice(0, 5).join(", ")}` +
      `${conflicts.length > 5 ? " …" : ""}. Nothing was changed. Send force: true to overwrite them.`,
    { details: { files: conflicts } },
  );
}
