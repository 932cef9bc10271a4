import type { TestProject } from "vitest/node";
import { dropDatabases, randomName } from "./database.ts";
import { startPostgres } from "./postgres.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** A PostgreSQL server for this test run; a test file makes its own database on it with `createDatabase`. */
    postgresUrl: string;
    /** What the database there is called that `createMigratedDatabase` copies, once somebody has asked for a copy; the copies' names begin so. */
    migratedTemplate: string;
    /** Slow suites only: whether the run asked for fewer rounds, with `--mode=short`. */
    short: boolean;
    /** Of a fuzz that is to be repeated. */
    fuzzSeed: number | undefined;
  }
}

export default async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const server = await startPostgres();
  const template = randomName();
  provide("postgresUrl", server.url);
  provide("migratedTemplate", template);
  return async () => {
    await dropDatabases(server.url, template);
    await server.stop();
  };
}
