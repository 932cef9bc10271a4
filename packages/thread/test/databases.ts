import { join } from "node:path";
import { inject } from "vitest";
import { createDatabase } from "../../../testing/database.ts";
import { createMemoryDir } from "../../../testing/temp-dir.ts";
import type { Database } from "../src/sql/database.ts";
import { openPostgres } from "../src/sql/postgres-database.ts";
import { openSqlite } from "../src/sql/sqlite-database.ts";

export interface EmptyDatabase {
  uri: string;
  open(): Database;
  remove(): Promise<void>;
}

/** Databases with nothing in them, for tests of what happens below the storage. */
export const databases: readonly { name: "sqlite" | "postgres"; create: () => Promise<EmptyDatabase> }[] = [
  { name: "sqlite", create: createSqlite },
  { name: "postgres", create: createPostgres },
];

async function createSqlite(): Promise<EmptyDatabase> {
  const dir = createMemoryDir();
  const path = join(dir.path, "state.db");
  return { uri: path, open: () => openSqlite({ path }), remove: async () => dir.remove() };
}

async function createPostgres(): Promise<EmptyDatabase> {
  const { url, drop } = await createDatabase(inject("postgresUrl"));
  return { uri: url, open: () => openPostgres({ url, poolMin: 0 }), remove: drop };
}
