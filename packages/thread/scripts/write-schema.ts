import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createDatabase } from "../../../testing/database.ts";
import { startPostgres } from "../../../testing/postgres.ts";
import type { Database } from "../src/sql/database.ts";
import { postgresDialect, sqliteDialect } from "../src/sql/dialect.ts";
import { migrate, migrationHash } from "../src/sql/migrate.ts";
import { migrations } from "../src/sql/migrations/list.ts";
import { openPostgres } from "../src/sql/postgres-database.ts";
import { openSqlite } from "../src/sql/sqlite-database.ts";
import { schemaText } from "./schema-text.ts";

const docs = join(import.meta.dirname, "../../../docs/schema");
const hashFile = join(import.meta.dirname, "../src/sql/migrations/hashes.json");

await writeSchema("sqlite", openSqlite({ path: ":memory:" }));
const server = await startPostgres();
try {
  const database = await createDatabase(server.url);
  await writeSchema("postgres", openPostgres({ url: database.url }));
  await database.drop();
} finally {
  await server.stop();
}
addHashes();

async function writeSchema(name: string, db: Database): Promise<void> {
  await migrate(db);
  mkdirSync(docs, { recursive: true });
  writeFileSync(join(docs, `${name}.sql`), await schemaText(db));
  await db.close();
}

/** Only of migrations that have none yet: what is released never changes. */
function addHashes(): void {
  const known = JSON.parse(readFileSync(hashFile, "utf8")) as Record<string, unknown>;
  for (const migration of migrations) {
    known[migration.version] ??= {
      sqlite: migrationHash(migration, sqliteDialect),
      postgres: migrationHash(migration, postgresDialect),
    };
  }
  writeFileSync(hashFile, `${JSON.stringify(known, null, 2)}\n`);
}
