import { createHash } from "node:crypto";
import { AppError } from "@cognition/contract";
import type { Database } from "./database.ts";
import { type Dialect, placeholders } from "./dialect.ts";
import { migrations as allMigrations } from "./migrations/list.ts";
import type { Migration } from "./migrations/migration.ts";
import { all, type Statement, type Tx } from "./statement.ts";

interface Applied {
  version: number;
  oldest_program: number;
}

export interface SchemaState {
  /** What the database is at. */
  version: number;
  /** What this program knows. */
  program: number;
  /** Programs below this one are refused. */
  oldest_program: number;
}

/** Any number fits, as long as every program takes the same one. */
const MIGRATION_LOCK = 4_714_001;

/**
 * Brings the database to this program's schema, in one transaction that other starting nodes wait for. A database of
 * a later release is used as it is while its schema allows this program, and refused untouched when it does not.
 */
export async function migrate(db: Database, migrations: readonly Migration[] = allMigrations): Promise<SchemaState> {
  const { dialect } = db;
  return db.transaction(function* (): Tx<SchemaState> {
    yield* all(openingStatements(dialect));
    const applied = yield* readApplied();
    refuseIfTooNew(stateOf(applied, migrations));
    const current = applied.at(-1)?.version ?? 0;
    for (const migration of migrations.filter((m) => m.version > current)) {
      yield* all(migration.up(dialect).map((sql) => ({ sql, params: [] })));
      yield* all([record(dialect, migration)]);
    }
    return stateOf(yield* readApplied(), migrations);
  });
}

/** What the database is at, without changing it; version 0 when it holds nothing of ours. */
export async function schemaState(db: Database): Promise<SchemaState> {
  const exists =
    db.dialect.name === "sqlite"
      ? "select count(*) as n from sqlite_master where name = 'schema_migrations'"
      : "select count(*) as n from pg_class where oid = to_regclass('schema_migrations')";
  const [found] = await db.readAll([{ sql: exists, params: [] }]);
  if (Number(found?.rows[0]?.n) === 0) return stateOf([], allMigrations);
  const [applied] = await db.readAll([READ_APPLIED]);
  return stateOf(applied?.rows as unknown as Applied[], allMigrations);
}

/** For programs that must not migrate: refuses a schema that this one can't use as it is. Changes nothing. */
export async function requireSchema(db: Database): Promise<SchemaState> {
  const state = await schemaState(db);
  refuseIfTooNew(state);
  if (state.version >= state.program) return state;
  throw new AppError(
    "schema_outdated",
    `The database is at schema ${state.version} and this program needs ${state.program}. Nothing was changed. Migrate it first.`,
    { details: { ...state } },
  );
}

export function migrationHash(migration: Migration, dialect: Dialect): string {
  return createHash("sha256").update(migration.up(dialect).join(";\n")).digest("hex");
}

const READ_APPLIED: Statement = {
  sql: "select version, oldest_program from schema_migrations order by version",
  params: [],
};

function* readApplied(): Tx<Applied[]> {
  const [result] = yield* all([READ_APPLIED]);
  return result?.rows as unknown as Applied[];
}

function openingStatements(dialect: Dialect): Statement[] {
  const lock = { sql: `select pg_advisory_xact_lock(${MIGRATION_LOCK})`, params: [] };
  const table = {
    sql: `create table if not exists schema_migrations (
  version ${dialect.bigint} primary key,
  name ${dialect.text} not null,
  hash ${dialect.text} not null,
  oldest_program ${dialect.bigint} not null,
  applied_at ${dialect.text} not null
)`,
    params: [],
  };
  // SQLite's transaction is itself the lock.
  return dialect.name === "sqlite" ? [table] : [lock, table];
}

function record(dialect: Dialect, migration: Migration): Statement {
  return {
    sql: placeholders(
      dialect,
      "insert into schema_migrations (version, name, hash, oldest_program, applied_at) values (?, ?, ?, ?, ?)",
    ),
    params: [
      migration.version,
      migration.name,
      migrationHash(migration, dialect),
      migration.oldestProgram,
      new Date().toISOString(),
    ],
  };
}

function stateOf(applied: readonly Applied[], migrations: readonly Migration[]): SchemaState {
  return {
    version: applied.at(-1)?.version ?? 0,
    program: migrations.at(-1)?.version ?? 0,
    oldest_program: Math.max(0, ...applied.map((row) => row.oldest_program)),
  };
}

function refuseIfTooNew({ version, program, oldest_program }: SchemaState): void {
  if (program >= oldest_program) return;
  throw new AppError(
    "schema_too_new",
    `The database is at schema ${version} and may only be used by programs that know schema ${oldest_program} or later; ` +
      `this one knows ${program}. Nothing was changed. Upgrade this program.`,
    { details: { version, program, oldest_program } },
  );
}
