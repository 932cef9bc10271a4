import { type Expression, type RawBuilder, type SqlBool, sql } from "kysely";
import type { SessionFilter } from "../session-store.ts";
import type { Database } from "./database.ts";
import { requireKnown } from "./known-names.ts";
import { scopeEntries, scopeText } from "./scope.ts";

const FILTERS = ["filter_scopes", "metadata_filters", "scope", "status"];

/** What must hold of `sessions s`, each part on its own. */
export function sessionConditions(db: Database, filter: SessionFilter): Expression<SqlBool>[] {
  requireKnown("Sessions", filter, FILTERS);
  const { filter_scopes = {}, metadata_filters = {}, scope, status } = filter;
  return [
    ...scopeEntries(filter_scopes).map(([key, value]) => hasMember(db, "s.scope", key, value)),
    ...Object.entries(metadata_filters).map(([key, value]) => hasMember(db, "s.metadata", key, value)),
    ...(scope === undefined ? [] : [sql<SqlBool>`s.scope = ${scopeText(scope)}`]),
    ...(status === undefined ? [] : [sql<SqlBool>`s.status = ${status}`]),
  ];
}

export function hasMember(db: Database, column: string, key: string, value: string): RawBuilder<SqlBool> {
  const [before = "", between = "", after = ""] = db.dialect.hasMember(column).split("?");
  return sql<SqlBool>`${sql.raw(before)}${key}${sql.raw(between)}${value}${sql.raw(after)}`;
}
