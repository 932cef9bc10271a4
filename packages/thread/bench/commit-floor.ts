import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import pg from "pg";
import { createDatabase } from "../../../testing/database.ts";
import { createTempDir } from "../../../testing/temp-dir.ts";

/** Milliseconds of single commits of one small row: what the disk takes of every step, whoever stores it. */
export interface FloorSamples {
  sqlite: number[];
  postgres: number[];
}

const COMMITS = 100;
const ROW_BYTES = 500;

export async function sampleFloor(serverUrl: string): Promise<FloorSamples> {
  return { sqlite: sampleSqlite(), postgres: await samplePostgres(serverUrl) };
}

function sampleSqlite(): number[] {
  const dir = createTempDir("cognition-bench-");
  const db = new DatabaseSync(join(dir.path, "floor.db"));
  db.exec("pragma journal_mode = wal; pragma synchronous = full; create table t (v blob)");
  const insert = db.prepare("insert into t values (?)");
  const row = Buffer.alloc(ROW_BYTES, 1);
  const times: number[] = [];
  for (let i = 0; i < COMMITS; i++) {
    const start = performance.now();
    insert.run(row);
    times.push(performance.now() - start);
  }
  db.close();
  dir.remove();
  return times;
}

async function samplePostgres(serverUrl: string): Promise<number[]> {
  const database = await createDatabase(serverUrl);
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query("create table t (v bytea)");
  const row = Buffer.alloc(ROW_BYTES, 1);
  const times: number[] = [];
  for (let i = 0; i < COMMITS; i++) {
    const start = performance.now();
    await client.query({ name: "insert", text: "insert into t values ($1)", values: [row] });
    times.push(performance.now() - start);
  }
  await client.end();
  await database.drop();
  return times;
}
