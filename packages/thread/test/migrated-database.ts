import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";
import { inject } from "vitest";
import { createDatabase, type TestDatabase } from "../../../testing/database.ts";
import { RecycledDatabases } from "../../../testing/recycled-databases.ts";
import { createMemoryDir } from "../../../testing/temp-dir.ts";
import { openStorage } from "../src/open-storage.ts";

let template: Promise<string> | undefined;

/** Nobody closes them: they go, with the template, when the test run ends. */
const recycled = new RecycledDatabases(async () => {
  template ??= findTemplate(inject("postgresUrl"), inject("migratedTemplate"));
  const name = await template;
  return createDatabase(inject("postgresUrl"), { template: name, prefix: `${name}_` });
});

/** What the migrations make of an empty file. */
let migratedFile: Promise<Uint8Array> | undefined;

/** A SQLite file with the schema and nothing else: copied, a storage is open eight times as fast. */
export async function writeMigratedFile(path: string): Promise<void> {
  migratedFile ??= migrateFile();
  writeFileSync(path, await migratedFile);
}

/** A PostgreSQL database with the schema and nothing else. The migrations run once for all tests. */
export function createMigratedDatabase(): Promise<TestDatabase> {
  return recycled.take();
}

/** Made by whichever process asks first; the others wait for it. */
async function findTemplate(serverUrl: string, name: string): Promise<string> {
  const client = new Client({ connectionString: serverUrl });
  await client.connect();
  try {
    await client.query("select pg_advisory_lock(hashtext($1))", [name]);
    const { rowCount } = await client.query("select 1 from pg_database where datname = $1", [name]);
    if (rowCount === 0) await client.query(`alter database ${await migrateOne(serverUrl)} rename to ${name}`);
    return name;
  } finally {
    await client.end();
  }
}

async function migrateFile(): Promise<Uint8Array> {
  const dir = createMemoryDir();
  const path = join(dir.path, "state.db");
  const storage = await openStorage(path);
  await storage.close();
  const bytes = readFileSync(path);
  dir.remove();
  return bytes;
}

async function migrateOne(serverUrl: string): Promise<string> {
  const database = await createDatabase(serverUrl);
  const storage = await openStorage({ uri: database.url, pool: { min: 0 } });
  await storage.close();
  return database.name;
}
