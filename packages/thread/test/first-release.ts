import { migrations } from "../src/sql/migrations/list.ts";
import type { Migration } from "../src/sql/migrations/migration.ts";

/** What the first release made. Its first migration was changed afterwards; the eleventh makes up for that. */
export const firstRelease: Migration[] = migrations.slice(0, 3).map((migration) => ({
  ...migration,
  up: (dialect) => {
    const then = (sql: string) =>
      sql.startsWith("create table artifacts (")
        ? sql.replace(`session_id ${dialect.text},`, `session_id ${dialect.text} not null,`)
        : sql;
    const more = migration.version === 1 ? ["create index checkpoints_newest on checkpoints (thread, ns, seq)"] : [];
    return [...migration.up(dialect).map(then), ...more];
  },
}));
