import { join } from "node:path";
import { openStorage, type Storage } from "@cognition/thread";
import { Client } from "pg";
import { createMemoryDir } from "../../../../../testing/temp-dir.ts";
import { createMigratedDatabase } from "../../../../thread/test/migrated-database.ts";
import { openDigest } from "./table-digest.ts";

type Now<T> = T | Promise<T>;

export interface Digest {
  /** Runs that wait for a node or are with one. */
  openRuns(): Now<number>;
  /** The tables that are not as they were when this was last asked. */
  changed(): Now<string[]>;
}

export interface FuzzedStorage {
  readonly storage: Storage;
  readonly digest: Digest;
  dispose(): Promise<void>;
}

export async function openSqlite(): Promise<FuzzedStorage> {
  const dir = createMemoryDir();
  const file = join(dir.path, "state.db");
  const storage = await openStorage(file);
  const digest = openDigest(file);
  const dispose = async () => {
    digest.close();
    await storage.close();
    dir.remove();
  };
  return { storage, digest, dispose };
}

/** It refuses what SQLite takes: U+0000, numbers out of range, texts that are no ids. */
export async function openPostgres(): Promise<FuzzedStorage> {
  const database = await createMigratedDatabase();
  const storage = await openStorage({ uri: database.url, pool: { min: 0, max: 4 } });
  const client = new Client({ connectionString: database.url });
  await client.connect();
  const dispose = async () => {
    await client.end();
    await storage.close();
    await database.drop();
  };
  return { storage, digest: await postgresDigest(client), dispose };
}

async function postgresDigest(client: Client): Promise<Digest> {
  const named = await client.query("select tablename from pg_tables where schemaname = 'public' order by 1");
  const tables: string[] = named.rows.map(({ tablename }) => tablename);
  const ofEach = tables
    .map((name) => `select '${name}' as name, ${DIGEST} as digest from "${name}" t`)
    .join(" union all ");
  let digests = new Map<string, string>();
  return {
    openRuns: async () => {
      const { rows } = await client.query("select count(*) as n from runs where status in ('queued', 'running')");
      return Number(rows[0].n);
    },
    changed: async () => {
      const { rows } = await client.query<{ name: string; digest: string }>(ofEach);
      const before = digests;
      digests = new Map(rows.map(({ name, digest }) => [name, digest]));
      return tables.filter((name) => digests.get(name) !== before.get(name));
    },
  };
}

/** The same for the same rows, in whatever order they stand. */
const DIGEST = "count(*) || ' ' || coalesce(sum(hashtextextended(t::text, 0)), 0)";
