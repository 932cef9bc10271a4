import { join } from "node:path";
import { Client } from "pg";
import { inject } from "vitest";
import { createDatabase } from "../../../../testing/database.ts";
import { createTempDir } from "../../../../testing/temp-dir.ts";
import { until } from "../../src/conformance/until.ts";
import { openStorage } from "../../src/open-storage.ts";
import type { Storage } from "../../src/storage.ts";
import { createChecker } from "./check/check-database.ts";
import type { Order } from "./orders.ts";
import { randomFrom } from "./random.ts";
import { startWriter, type WriterProcess } from "./writer-process.ts";

/** One database that writers die on, its ledger, and what checks the one against the other. */
export interface Scene {
  uri: string;
  ledger: string;
  random: () => number;
  /** A writer that has loaded by the time it is needed. */
  hire(): WriterProcess;
  /** Once nobody writes any more: checks, and gives what the next writer has to do. */
  check(): Promise<Pick<Order, "open" | "session">>;
  checkAll(): Promise<Pick<Order, "open">>;
  /** Ends every writer that is left. */
  dispose(): Promise<void>;
}

export interface Engine {
  name: "sqlite" | "postgres";
  create(serverUrl?: string): Promise<{ uri: string; remove(): Promise<void>; untilQuiet(): Promise<void> }>;
}

export const engines: readonly Engine[] = [
  {
    name: "sqlite",
    create: async () => {
      const dir = createTempDir();
      return { uri: join(dir.path, "state.db"), remove: async () => dir.remove(), untilQuiet: async () => undefined };
    },
  },
  {
    name: "postgres",
    create: async (serverUrl) => {
      const { url, drop } = await createDatabase(serverUrl ?? inject("postgresUrl"));
      return { uri: url, remove: drop, untilQuiet: () => untilAlone(url) };
    },
  },
];

const cache = createTempDir("cognition-crash-");

export async function setScene(engine: Engine, seed: number, serverUrl?: string): Promise<Scene> {
  const { uri, remove, untilQuiet } = await engine.create(serverUrl);
  const dir = createTempDir();
  const ledger = join(dir.path, "ledger.jsonl");
  const random = randomFrom(seed);
  const checker = createChecker(ledger, random);
  const writers: WriterProcess[] = [];

  async function withStorage<T>(use: (storage: Storage) => Promise<T>): Promise<T> {
    await untilQuiet();
    const storage = await openStorage({ uri, pool: { min: 0, max: 4 } });
    try {
      return await use(storage);
    } finally {
      await storage.close();
    }
  }

  return {
    uri,
    ledger,
    random,
    hire: () => {
      const writer = startWriter({ uri, ledger }, cache.path);
      writers.push(writer);
      return writer;
    },
    check: () => withStorage((storage) => checker.check(storage)),
    checkAll: () => withStorage((storage) => checker.checkAll(storage)),
    dispose: async () => {
      await Promise.all(writers.map((writer) => writer.kill()));
      dir.remove();
      await remove();
    },
  };
}

/** A writer that is killed leaves no compiled code behind for the next one; this one is not. */
export async function warmCache(): Promise<void> {
  const dir = createTempDir();
  const writer = startWriter({ uri: join(dir.path, "state.db"), ledger: join(dir.path, "ledger") }, cache.path);
  await writer.ready;
  writer.begin({ lanes: 0, lease_ms: 0, seed: 0, open: [] });
  await writer.ended;
  dir.remove();
}

export function removeCache(): void {
  cache.remove();
}

/** The server may be at work for a client that is dead: what it was sent in time, it still commits. */
async function untilAlone(url: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await until("the dead writer's connections to end", async () => {
      const others = await client.query(
        "select 1 from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'",
      );
      return others.rowCount === 0 ? true : undefined;
    });
  } finally {
    await client.end();
  }
}
