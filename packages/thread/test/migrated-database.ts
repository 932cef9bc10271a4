import { afterAll, inject } from "vitest";
import { createDatabase, type TestDatabase } from "../../../testing/database.ts";
import { openStorage } from "../src/open-storage.ts";

let template: Promise<TestDatabase> | undefined;

afterAll(async () => (await template)?.drop());

/** A PostgreSQL database with the schema and nothing else. The migrations run once in a test file; the rest are copies. */
export async function createMigratedDatabase(): Promise<TestDatabase> {
  template ??= migrateOne();
  return createDatabase(inject("postgresUrl"), { template: (await template).name });
}

async function migrateOne(): Promise<TestDatabase> {
  const database = await createDatabase(inject("postgresUrl"));
  const storage = await openStorage({ uri: database.url, pool: { min: 0 } });
  await storage.close();
  return database;
}
