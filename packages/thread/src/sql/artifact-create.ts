import { AppError, type Artifact } from "@cognition/contract";
import type { NewArtifact } from "../artifact-store.ts";
import { defaultContentType, showContent, storeContent } from "./artifact-content.ts";
import { parseNewArtifact } from "./artifact-input.ts";
import type { SqlContext } from "./context.ts";
import { placeholders } from "./dialect.ts";
import { isUniqueViolation } from "./errors.ts";
import { scopeText } from "./scope.ts";
import { sessionNotFound } from "./session-store.ts";
import type { SqlValue, Statement } from "./statement.ts";
import { advanceThread } from "./thread-row.ts";

const INSERT_ARTIFACT = `insert into artifacts
    (id, session_id, scope, run_id, name, artifact_type, path, visibility, version, created_at, updated_at)
  select ?, s.id, s.scope, ?, ?, ?, ?, ?, 1, ?, ? from sessions s where s.id = ?`;

const INSERT_WITHOUT_SESSION = `insert into artifacts
    (id, run_id, name, artifact_type, path, visibility, version, created_at, updated_at, session_id, scope)
  values (?, ?, ?, ?, ?, ?, 1, ?, ?, ?, ?) returning scope`;

const INSERT_VERSION = `insert into artifact_versions
    (artifact_id, version, content, content_type, encoding, size, hash, reason, run_id, checkpoint_id, created_at)
  values (?, 1, ?, ?, ?, ?, ?, ?, ?,
    coalesce(?, (select t.head from threads t join sessions s on s.thread_id = t.thread_id where s.id = ?)), ?) returning checkpoint_id`;

/**
 * The thread's row is taken first, as in every write to a session: a session that is being deleted at this moment
 * either takes the new artifact with it or refuses it, and no scratch outlives it.
 */
export async function createArtifact(ctx: SqlContext, artifact: NewArtifact, maxBytes: number): Promise<Artifact> {
  try {
    return await insertArtifact(ctx, artifact, maxBytes);
  } catch (error) {
    if (artifact.id === undefined || !isUniqueViolation(error)) throw error;
    throw new AppError("already_exists", `There is an artifact ${artifact.id} already; nothing was stored`);
  }
}

async function insertArtifact(ctx: SqlContext, artifact: NewArtifact, maxBytes: number): Promise<Artifact> {
  const { db, now, newId } = ctx;
  const input = parseNewArtifact(artifact);
  const stored = storeContent(artifact.content, maxBytes);
  const { run_id, name, artifact_type, path, visibility, reason, checkpoint_id } = input;
  const content_type = input.content_type ?? defaultContentType(stored.encoding);
  const id = input.id ?? newId();
  const created_at = now();
  const { session_id } = artifact;
  const scope = artifact.scopes === undefined ? undefined : scopeText(artifact.scopes);

  const insert = (sql: string, params: SqlValue[]): Statement => ({
    sql: placeholders(db.dialect, sql),
    params,
    prepare: true,
  });
  const columns = [id, run_id, name, artifact_type, path, visibility, created_at, created_at, session_id];
  const { content, encoding, size, hash } = stored;
  const [, made, version] = await db.atomic([
    ...(session_id === null
      ? [NOTHING, insert(INSERT_WITHOUT_SESSION, [...columns, scope ?? scopeText()])]
      : inSession(ctx, session_id, insert, { columns, scope })),
    insert(INSERT_VERSION, [
      id,
      content,
      content_type,
      encoding,
      size,
      hash,
      reason,
      run_id,
      checkpoint_id,
      session_id,
      created_at,
    ]),
  ]);
  return {
    id,
    name,
    artifact_type,
    path,
    content: showContent(stored),
    encoding,
    content_type,
    size,
    version: 1,
    reason,
    run_id,
    session_id,
    checkpoint_id: (version?.rows[0]?.["checkpoint_id"] ?? null) as string | null,
    visibility,
    scope: JSON.parse(made?.rows[0]?.["scope"] as string),
    created_at,
    updated_at: created_at,
  };
}

/** Keeps the place of the statement that takes the thread's row. */
const NOTHING: Statement = { sql: "select 1", params: [] };

function inSession(
  { db }: SqlContext,
  session_id: string,
  insert: (sql: string, params: SqlValue[]) => Statement,
  { columns, scope }: { columns: SqlValue[]; scope: string | undefined },
): Statement[] {
  const refused = () => sessionNotFound(session_id);
  const scoped = scope === undefined ? INSERT_ARTIFACT : `${INSERT_ARTIFACT} and s.scope = ?`;
  return [
    { ...advanceThread(db, { session_id }, { events: 0 }), requireRow: refused },
    {
      ...insert(`${scoped} returning scope`, scope === undefined ? columns : [...columns, scope]),
      requireRow: refused,
    },
  ];
}
