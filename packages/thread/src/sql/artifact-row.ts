import type { Artifact, ArtifactSummary } from "@cognition/contract";
import { type Selectable, sql } from "kysely";
import { showContent } from "./artifact-content.ts";
import type { Database } from "./database.ts";
import { storedJson } from "./json-text.ts";
import type { Tables } from "./tables.ts";

const SHARED = ["a.id", "a.name", "a.artifact_type", "a.path", "a.visibility", "a.session_id", "a.scope"] as const;
const OF_VERSION = ["v.version", "v.content_type", "v.size", "v.reason", "v.checkpoint_id"] as const;

type ArtifactRow = Selectable<Tables["artifacts"]>;
type VersionRow = Selectable<Tables["artifact_versions"]>;

export type SummaryRow = Omit<ArtifactRow, "pk" | "undone"> &
  Pick<VersionRow, "content_type" | "size" | "reason" | "checkpoint_id">;
export type FullRow = SummaryRow & Pick<VersionRow, "content" | "encoding">;

/**
 * An artifact as it is now: its run is the one that made it. The version is a range, of one: else SQLite takes the row's own
 * key, and reads past the content to what comes after it, though an index has all but the content.
 */
export function selectArtifacts(db: Database) {
  return db.q
    .selectFrom("artifacts as a")
    .innerJoin("artifact_versions as v", (join) =>
      join
        .onRef("v.artifact_id", "=", "a.id")
        .onRef("v.version", ">=", "a.version")
        .onRef("v.version", "<=", "a.version"),
    )
    .select([...SHARED, ...OF_VERSION, "a.run_id", "a.created_at", "a.updated_at"]);
}

/** An artifact as one version left it: its run and its times are that version's. */
export function selectVersions(db: Database) {
  return db.q
    .selectFrom("artifacts as a")
    .innerJoin("artifact_versions as v", "v.artifact_id", "a.id")
    .select([...SHARED, ...OF_VERSION, "v.run_id", "v.created_at", sql.ref<string>("v.created_at").as("updated_at")]);
}

export const CONTENT = ["v.content", "v.encoding"] as const;

export function toSummary(row: SummaryRow): ArtifactSummary {
  return {
    id: row.id,
    name: row.name,
    artifact_type: row.artifact_type as Artifact["artifact_type"],
    path: row.path,
    content_type: row.content_type,
    size: row.size,
    version: row.version,
    reason: row.reason,
    run_id: row.run_id,
    session_id: row.session_id,
    checkpoint_id: row.checkpoint_id,
    visibility: row.visibility as Artifact["visibility"],
    scope: storedJson(row.scope, `The scope of artifact ${row.id}`),
    created_at: row.created_at,
    updated_at: row.updated_at,
  };
}

export function toArtifact(row: FullRow): Artifact {
  return { ...toSummary(row), content: showContent(row), encoding: row.encoding as Artifact["encoding"] };
}
