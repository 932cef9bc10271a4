import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { gunzipSync } from "node:zlib";
import { Client } from "pg";
import { migrate } from "../src/sql/migrate.ts";
import { migrations } from "../src/sql/migrations/list.ts";
import { openPostgres } from "../src/sql/postgres-database.ts";
import { firstRelease } from "./first-release.ts";

/** Of the releases whose databases are kept here, the number of the schema. Each was written by that release's own program. */
export const RELEASES = [3, 7, 15] as const;
export type Release = (typeof RELEASES)[number];

/** The file as that program left it when it was killed. */
export function writeRelease(release: Release, path: string): void {
  writeFileSync(path, gunzipSync(readFileSync(join(import.meta.dirname, `releases/schema-${release}.db.gz`))));
}

/** The same rows in a PostgreSQL database of that release's schema, which holds nothing yet. */
export async function loadRelease(release: Release, file: string, url: string): Promise<void> {
  const db = openPostgres({ url, poolMin: 0 });
  await migrate(db, release === 3 ? firstRelease : migrations.slice(0, release)).finally(() => db.close());
  const source = new DatabaseSync(file, { readOnly: true });
  const target = new Client({ connectionString: url });
  await target.connect();
  try {
    await target.query("set session_replication_role = replica"); // rows come in whatever order
    for (const { name } of source.prepare(TABLES).all()) await copyTable(source, target, String(name));
  } finally {
    await target.end();
    source.close();
  }
}

const TABLES = `select name from sqlite_schema
  where type = 'table' and name not like 'sqlite%' and name <> 'schema_migrations'`;
const NUMBERED = "select 1 from pg_attribute where attrelid = $1::regclass and attname = 'pk' and attidentity <> ''";

async function copyTable(source: DatabaseSync, target: Client, table: string): Promise<void> {
  for (const row of source.prepare(`select * from ${table}`).all()) {
    const names = Object.keys(row).map((name) => `"${name}"`);
    const places = names.map((_, index) => `$${index + 1}`);
    const values = Object.values(row).map((value) => (value instanceof Uint8Array ? Buffer.from(value) : value));
    await target.query(
      `insert into ${table} (${names.join(", ")}) overriding system value values (${places.join(", ")})`,
      values,
    );
  }
  const { rowCount } = await target.query(NUMBERED, [table]);
  if (rowCount) {
    const last = `select setval(pg_get_serial_sequence('${table}', 'pk'), max(pk)) from ${table} having max(pk) > 0`;
    await target.query(last);
  }
}
