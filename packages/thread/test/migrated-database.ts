import { Client } from "pg";
import { inject } from "vitest";
import { createDatabase, type TestDatabase } from "../../../testing/database.ts";
import { openStorage } from "../src/open-storage.ts";

let template: Promise<string> | undefined;

/** A PostgreSQL database with the schema and nothing else. The migrations run once for all tests; the rest are copies. */
export async function createMigratedDatabase(): Promise<TestDatabase> {
  template ??= findTemplate(inject("postgresUrl"), inject("migratedTemplate"));
  return createDatabase(inject("postgresUrl"), { template: await template });
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

async function migrateOne(serverUrl: string): Promise<string> {
  const database = await createDatabase(serverUrl);
  const storage = await openStorage({ uri: database.url, pool: { min: 0 } });
  await storage.close();
  return database.name;
}
