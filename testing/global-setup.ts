import type { TestProject } from "vitest/node";
import { startPostgres } from "./postgres.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** A PostgreSQL server for this test run; a test file makes its own database on it with `createDatabase`. */
    postgresUrl: string;
    /** Slow suites only: whether the run asked for fewer rounds, with `--mode=short`. */
    short: boolean;
    /** Of a fuzz that is to be repeated. */
    fuzzSeed: number | undefined;
  }
}

export default async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const server = await startPostgres();
  provide("postgresUrl", server.url);
  return server.stop;
}
