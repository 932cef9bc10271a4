import type { Dialect } from "../dialect.ts";
import type { Migration } from "./migration.ts";

/**
 * In databases that the first release made, an artifact must have a session, and there is an index that nothing uses any
 * more. Every other database stays as it is.
 */
export const artifactsOfNoSession: Migration = {
  version: 11,
  name: "artifacts-of-no-session",
  oldestProgram: 1,
  up: ({ name, text }) => [
    "drop index if exists checkpoints_newest",
    ...(name === "postgres" ? ["alter table artifacts alter column session_id drop not null"] : remadeColumn(text)),
  ],
};

/** SQLite can't take a constraint away, so the column is made anew. A new table would take the versions along with the old one. */
function remadeColumn(text: Dialect["text"]): string[] {
  return [
    "drop index artifacts_by_session",
    "alter table artifacts rename column session_id to session_id_remade",
    `alter table artifacts add column session_id ${text}`,
    "update artifacts set session_id = session_id_remade",
    "alter table artifacts drop column session_id_remade",
    "create index artifacts_by_session on artifacts (session_id, pk)",
  ];
}
