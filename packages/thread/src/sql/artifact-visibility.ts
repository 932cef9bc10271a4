import { AppError } from "@cognition/contract";
import { type Expression, type SqlBool, sql } from "kysely";
import type { ArtifactReader } from "../artifact-store.ts";
import { requireKnown } from "./known-names.ts";
import { scopeText } from "./scope.ts";

/**
 * True for the rows of `artifacts a` that this reader may know of. Every statement on an artifact carries it, so what
 * is not to be seen can't be told from what does not exist.
 */
export function visibleTo(reader: ArtifactReader): Expression<SqlBool> {
  requireKnown("Artifacts", reader, ["scope", "session_id", "run_id"]);
  const { scope, session_id, run_id } = reader;
  const inScope: Expression<SqlBool> =
    scope === undefined ? sql`a.undone = 0` : sql`a.undone = 0 and a.scope = ${scopeText(scope)}`;
  if (!isName(session_id)) return sql`${inScope} and a.visibility = 'public'`;
  const ofRun: Expression<SqlBool> = isName(run_id) ? sql`a.visibility = 'run' and a.run_id = ${run_id}` : sql`1 = 0`;
  return sql`${inScope} and (a.visibility = 'public'
    or (a.session_id = ${session_id} and (a.visibility = 'private' or (${ofRun}))))`;
}

/** PostgreSQL fails on text with U+0000; nothing has such a name. */
function isName(id: string | undefined): id is string {
  return id !== undefined && !id.includes("\0");
}

export function hasId(id: string): Expression<SqlBool> {
  return isName(id) ? sql`a.id = ${id}` : sql`1 = 0`;
}

export function artifactNotFound(id: string, version?: number): AppError {
  const what = version === undefined ? `artifact ${id}` : `version ${version} of artifact ${id}`;
  return new AppError("artifact_not_found", `There is no ${what} that this caller may see`);
}
