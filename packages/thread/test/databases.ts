import { join } from "node:path";
import { inject } from "vitest";
import { createDatabase, type TestDatabase } from "../../../testing/database.ts";
import { createMemoryDir } from "../../../testing/temp-dir.ts";
import type { Database } from "../src/sql/database.ts";
import { openPostgres } from "../src/sql/postgres-database.ts";
import { openSqlite } from "../src/sql/sqlite-database.ts";
import { createMigratedDatabase, writeMigratedFile } from "./migrated-database.ts";

export interface TestedDatabase {
  uri: string;
  open(): Database;
  remove(): Promise<void>;
}

type Create = () => Promise<TestedDatabase>;
type Databases = readonly { readonly name: "sqlite" | "postgres"; readonly create: Create }[];

/** Databases with the schema and no rows, for tests of what happens below the storage. Who changes the schema wants an empty one. */
export const databases: Databases = [
  { name: "sqlite", create: async () => openFile(writeMigratedFile) },
  { name: "postgres", create: async () => onServer(await createMigratedDatabase()) },
];

/** Databases with nothing in them. */
export const emptyDatabases: Databases = [
  { name: "sqlite", create: async () => openFile() },
  { name: "postgres", create: async () => onServer(await createDatabase(inject("postgresUrl"))) },
];

async function openFile(fill?: (path: string) => Promise<void>): Promise<TestedDatabase> {
  const dir = createMemoryDir();
  const path = join(dir.path, "state.db");
  await fill?.(path);
  return { uri: path, open: () => openSqlite({ path }), remove: async () => dir.remove() };
}

function onServer({ url, drop }: TestDatabase): TestedDatabase {
  return { uri: url, open: () => openPostgres({ url, poolMin: 0 }), remove: drop };
}
