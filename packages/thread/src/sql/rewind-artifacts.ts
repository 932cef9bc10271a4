import { type Ancestor, readAncestors, tagsOf, type Way } from "./ancestry.ts";
import type { SqlContext } from "./context.ts";
import { prepared } from "./dialect.ts";
import { all, rows, type Statement, statement, type Tx } from "./statement.ts";

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
  encoding: string;
  content_type: string;
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
  const { q } = ctx.db;
  const { way, session_id } = move;
  const artifacts = yield* rows(
    q.selectFrom("artifacts").select(["id", "version", "undone"]).where("session_id", "=", session_id),
  );
  if (artifacts.length === 0) return;
  const versions = yield* rows(
    q
      .selectFrom("artifact_versions as v")
      .innerJoin("artifacts as a", "a.id", "v.artifact_id")
      .select(["v.artifact_id", "v.version", "v.hash", "v.encoding", "v.content_type", "v.checkpoint_id"])
      .where("a.session_id", "=", session_id)
      .orderBy("v.version", "desc"),
  );
  const touched = new Set([...tagsOf(way.undone), ...tagsOf(way.redone), move.from]);
  const isChanged = ({ checkpoint_id }: VersionRow) => way.common === undefined || touched.has(checkpoint_id);
  if (!versions.some(isChanged)) return;
  const included = yield* includedTags(ctx, move);
  const isIncluded = ({ checkpoint_id }: VersionRow) => checkpoint_id === null || included.has(checkpoint_id);
  const versionsOf = Map.groupBy(versions, ({ artifact_id }) => artifact_id);
  const changed = artifacts.flatMap((artifact) => {
    const own = versionsOf.get(artifact.id) ?? [];
    const current = own.find(({ version }) => version === artifact.version);
    return own.some(isChanged) ? [{ ...artifact, current, wanted: own.find(isIncluded) }] : [];
  });
  yield* all(setBack(ctx, changed, move.head));
}

/** Under which heads everything was written that the checkpoint comes after. */
function* includedTags({ db }: SqlContext, { thread, to }: ArtifactMove): Tx<Set<string>> {
  const ancestry: Ancestor[] = to === null ? [] : yield* readAncestors(db, thread, to, EVERY, "artifacts");
  return new Set(tagsOf(ancestry));
}

interface ChangedArtifact {
  id: string;
  version: number;
  undone: number;
  current: VersionRow | undefined;
  /** The version that it is to be as; undefined if it was not there. */
  wanted: VersionRow | undefined;
}

function setBack(ctx: SqlContext, changed: readonly ChangedArtifact[], head: string): Statement[] {
  const gone: string[] = [];
  const shown: string[] = [];
  const copies: Statement[] = [];
  for (const { id, version, undone, current, wanted } of changed) {
    if (!wanted) gone.push(id);
    else if (!isSameContent(wanted, current))
      copies.push(...bringBack(ctx, { id, version: version + 1 }, wanted, head));
    else if (undone === 1) shown.push(id);
  }
  return [...setUndone(ctx, gone, 1), ...setUndone(ctx, shown, 0), ...copies];
}

/** The same bytes may have been of another type then, or no text. */
function isSameContent(wanted: VersionRow, current: VersionRow | undefined): boolean {
  if (!current || wanted.hash !== current.hash) return false;
  return wanted.encoding === current.encoding && wanted.content_type === current.content_type;
}

function setUndone({ db, now }: SqlContext, ids: readonly string[], undone: 0 | 1): Statement[] {
  if (ids.length === 0) return [];
  const sql = `update artifacts set undone = ?, updated_at = ? where id in (${db.dialect.eachText})`;
  return [prepared(db.dialect, sql, [undone, now(), JSON.stringify(ids)])];
}

/** An earlier version's content as that of a new one. */
function bringBack(
  { db, now }: SqlContext,
  { id, version }: { id: string; version: number },
  wanted: VersionRow,
  checkpoint_id: string,
): Statement[] {
  const { q } = db;
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
  const shown = q.updateTable("artifacts").set({ version, undone: 0, updated_at: now() }).where("id", "=", id);
  return [statement(copy), statement(shown)];
}
