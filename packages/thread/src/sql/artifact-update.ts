import { AppError, type Artifact, REASONED_ARTIFACT_TYPES } from "@cognition/contract";
import { type Selectable, sql } from "kysely";
import type { ArtifactChange, ArtifactReader } from "../artifact-store.ts";
import { defaultContentType, type StoredContent, storeContent } from "./artifact-content.ts";
import { parseArtifactChange } from "./artifact-input.ts";
import { CONTENT, selectArtifacts, toArtifact } from "./artifact-row.ts";
import { artifactNotFound, hasId, visibleTo } from "./artifact-visibility.ts";
import type { SqlContext } from "./context.ts";
import { changes, first, type Tx } from "./statement.ts";
import type { Tables } from "./tables.ts";

type ArtifactRow = Selectable<Tables["artifacts"]>;
type Change = ReturnType<typeof parseArtifactChange>;

interface CurrentVersion {
  content_type: string;
  encoding: string;
  hash: string;
}

export async function updateArtifact(
  ctx: SqlContext,
  id: string,
  given: ArtifactChange,
  reader: ArtifactReader,
  maxBytes: number,
): Promise<Artifact> {
  const change = parseArtifactChange({ run_id: reader.run_id ?? null, ...given });
  const content = given.content === undefined ? undefined : storeContent(given.content, maxBytes);
  return ctx.db.transaction(() => update(ctx, id, change, content, reader));
}

/** The artifact's row is the lock: whoever holds it compares with the newest version and takes the next number. */
function* update(
  ctx: SqlContext,
  id: string,
  change: Change,
  content: StoredContent | undefined,
  reader: ArtifactReader,
): Tx<Artifact> {
  const { q, dialect } = ctx.db;
  const row = yield* first(
    q
      .selectFrom("artifacts as a")
      .selectAll("a")
      .where(hasId(id))
      .where(visibleTo(reader))
      .modifyEnd(sql.raw(dialect.lockRows)),
  );
  if (!row) throw artifactNotFound(id);
  refuseIfChanged(row, change.if_version);
  const current = yield* first(
    q
      .selectFrom("artifact_versions")
      .select(["content_type", "encoding", "hash"])
      .where("artifact_id", "=", id)
      .where("version", "=", row.version),
  );
  if (!current) throw new AppError("corrupt_data", `Artifact ${id} has no version ${row.version}`);
  const content_type = nextContentType(current, content, change.content_type);
  const renewed = content !== undefined && (content.hash !== current.hash || content.encoding !== current.encoding);
  const version = renewed || content_type !== current.content_type ? row.version + 1 : row.version;
  if (version > row.version) {
    refuseWithoutReason(row, change.reason);
    yield* insertVersion(ctx, row, { ...change, content_type }, renewed ? content : undefined);
  }
  yield* updateRow(ctx, row, change, version);
  const updated = yield* first(selectArtifacts(ctx.db).select(CONTENT).where(hasId(id)));
  if (!updated) throw new AppError("corrupt_data", `Artifact ${id} has no version ${version}`);
  return toArtifact(updated);
}

export function refuseIfChanged(
  { id, version }: Pick<ArtifactRow, "id" | "version">,
  expected: number | undefined,
): void {
  if (expected === undefined || expected === version) return;
  throw new AppError(
    "precondition_failed",
    `Artifact ${id} is at version ${version}, not ${expected}. Nothing was changed; read it again and decide anew.`,
    { details: { version } },
  );
}

function refuseWithoutReason({ id, artifact_type }: ArtifactRow, reason: string | undefined): void {
  const reasoned: readonly string[] = REASONED_ARTIFACT_TYPES;
  if (!reasoned.includes(artifact_type) || reason?.trim()) return;
  throw new AppError(
    "artifact_reason_required",
    `Artifact ${id} is a ${artifact_type}: a new version needs a reason. Nothing was changed.`,
  );
}

/** What turns from text to bytes, or back, is no longer of the type that it had. */
function nextContentType(
  current: CurrentVersion,
  content: StoredContent | undefined,
  given: string | undefined,
): string {
  if (given !== undefined) return given;
  if (!content || content.encoding === current.encoding) return current.content_type;
  return defaultContentType(content.encoding);
}

/** Without new content it is that of the version before. */
function* insertVersion(
  { db, now }: SqlContext,
  { id, version, session_id }: ArtifactRow,
  { reason = "", run_id, checkpoint_id: given, content_type }: Change & { content_type: string },
  content: StoredContent | undefined,
): Tx<void> {
  const before = db.q.selectFrom("artifact_versions").select(["content", "encoding", "size", "hash"]);
  const stored = content ?? (yield* first(before.where("artifact_id", "=", id).where("version", "=", version)));
  if (!stored) throw new AppError("corrupt_data", `Artifact ${id} has no version ${version}`);
  // What it was written after: going back before that sets it back.
  const written = session_id === null ? undefined : yield* first(headOf(db, session_id));
  const checkpoint_id = given ?? written?.head ?? null;
  yield* changes(
    db.q.insertInto("artifact_versions").values({
      ...stored,
      artifact_id: id,
      version: version + 1,
      content_type,
      reason: reason || null,
      run_id,
      checkpoint_id,
      created_at: now(),
    }),
  );
}

function headOf({ q }: SqlContext["db"], session_id: string) {
  const threads = q.selectFrom("threads").innerJoin("sessions", "sessions.thread_id", "threads.thread_id");
  return threads.select("threads.head").where("sessions.id", "=", session_id);
}

function* updateRow({ db, now }: SqlContext, row: ArtifactRow, change: Change, version: number): Tx<void> {
  const { name = row.name, path = row.path, visibility = row.visibility } = change;
  if (visibility === "run" && row.run_id === null) {
    throw new AppError(
      "validation_failed",
      `No run made artifact ${row.id}, so nobody could see it with visibility "run"`,
    );
  }
  const same = name === row.name && path === row.path && visibility === row.visibility && version === row.version;
  if (same) return;
  yield* changes(
    db.q.updateTable("artifacts").set({ name, path, visibility, version, updated_at: now() }).where("id", "=", row.id),
  );
}
