import { type Ancestor, readAncestors, tagsOf, type Way } from "./ancestry.ts";
import type { SqlContext } from "./context.ts";
import { all, changes, rows, statement, type Tx } from "./statement.ts";

export interface ArtifactMove {
  session_id: string;
  thread: number;
  /** The head before; what was written under it comes after every checkpoint. */
  from: string | null;
  to: string | null;
  way: Way;
  /** The head after, under which what is set back counts as written. */
  head: string;
}

interface VersionRow {
  artifact_id: string;
  version: number;
  hash: string;
  checkpoint_id: string | null;
}

/** The reason of a version that a rewind made. */
export const SET_BACK = "Set back to version ";

const EVERY = 1_000_000_000;

/**
 * Each artifact of the session as it was at the checkpoint: an earlier content becomes a new version, one that was made
 * since is out of sight until it is redone.
 */
export function* rewindArtifacts(ctx: SqlContext, move: ArtifactMove): Tx<void> {
  const { db } = ctx;
  const { q } = db;
  const touched = new Set([...tagsOf(move.way.undone), ...tagsOf(move.way.redone), move.from]);
  const artifacts = yield* rows(
    q.selectFrom("artifacts").select(["id", "version", "undone"]).where("session_id", "=", move.session_id),
  );
  if (artifacts.length === 0) return;
  const versions = yield* rows(
    q
      .selectFrom("artifact_versions")
      .select(["artifact_id", "version", "hash", "checkpoint_id"])
      .where(
        "artifact_id",
        "in",
        artifacts.map(({ id }) => id),
      )
      .orderBy("version", "desc"),
  );
  const changed = versions.filter(({ checkpoint_id }) => move.way.common === undefined || touched.has(checkpoint_id));
  if (changed.length === 0) return;
  const included = yield* includedTags(ctx, move);
  const affected = new Set(changed.map(({ artifact_id }) => artifact_id));
  for (const artifact of artifacts.filter(({ id }) => affected.has(id))) {
    const own = versions.filter(({ artifact_id }) => artifact_id === artifact.id);
    const wanted = own.find(({ checkpoint_id }) => checkpoint_id === null || included.has(checkpoint_id));
    yield* setBack(ctx, artifact, own, wanted, move.head);
  }
}

/** Under which heads everything was written that the checkpoint comes after. */
function* includedTags({ db }: SqlContext, { thread, to }: ArtifactMove): Tx<Set<string>> {
  const ancestry: Ancestor[] = to === null ? [] : yield* readAncestors(db, thread, to, EVERY);
  return new Set(tagsOf(ancestry));
}

function* setBack(
  { db, now }: SqlContext,
  artifact: { id: string; version: number; undone: number },
  own: readonly VersionRow[],
  wanted: VersionRow | undefined,
  checkpoint_id: string,
): Tx<void> {
  const { q } = db;
  const { id } = artifact;
  const row = q.updateTable("artifacts").where("id", "=", id);
  if (!wanted) {
    yield* changes(row.set({ undone: 1, updated_at: now() }));
    return;
  }
  const current = own.find(({ version }) => version === artifact.version);
  if (current?.hash === wanted.hash) {
    if (artifact.undone === 1) yield* changes(row.set({ undone: 0, updated_at: now() }));
    return;
  }
  const version = artifact.version + 1;
  const copy = q
    .insertInto("artifact_versions")
    .columns([
      "artifact_id",
      "version",
      "content",
      "content_type",
      "encoding",
      "size",
      "hash",
      "reason",
      "run_id",
      "checkpoint_id",
      "created_at",
    ])
    .expression((eb) =>
      eb
        .selectFrom("artifact_versions")
        .select((e) => [
          "artifact_id",
          e.val(version).as("version"),
          "content",
          "content_type",
          "encoding",
          "size",
          "hash",
          e.val(`${SET_BACK}${wanted.version}`).as("reason"),
          e.val(null).as("run_id"),
          e.val(checkpoint_id).as("checkpoint_id"),
          e.val(now()).as("created_at"),
        ])
        .where("artifact_id", "=", id)
        .where("version", "=", wanted.version),
    );
  yield* all([statement(copy), statement(row.set({ version, undone: 0, updated_at: now() }))]);
}
