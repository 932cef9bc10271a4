import { randomBytes } from "node:crypto";
import { Client, type QueryResultRow } from "pg";

export interface TestDatabase {
  readonly name: string;
  readonly url: string;
  drop(): Promise<void>;
}

export interface DatabaseOptions {
  /** The database to copy, which nobody may be connected to: a copy comes four times as fast as the migrations do. */
  readonly template?: string;
  readonly owner?: string;
  /** What its name begins with. */
  readonly prefix?: string;
}

/**
 * Creates a database with a random name on the server at `serverUrl`, empty unless it is a copy.
 * `drop` closes whatever connections are still open to it, and may be called twice.
 */
export async function createDatabase(serverUrl: string, options: DatabaseOptions = {}): Promise<TestDatabase> {
  const { template = "default", owner = "default", prefix = "test_" } = options;
  const name = randomName(prefix);
  await execute(serverUrl, `create database ${name} template ${template} owner ${owner}`);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return { name, url: url.href, drop: () => dropDatabase(serverUrl, name) };
}

export function randomName(prefix = "test_"): string {
  return `${prefix}${randomBytes(8).toString("hex")}`;
}

async function dropDatabase(serverUrl: string, name: string): Promise<void> {
  await execute(serverUrl, `drop database if exists ${name} with (force)`);
}

/** Of all databases whose name begins so. */
export async function dropDatabases(serverUrl: string, prefix: string): Promise<void> {
  const names = await execute<{ datname: string }>(
    serverUrl,
    `select datname from pg_database where starts_with(datname, '${prefix}')`,
  );
  for (const { datname } of names) await dropDatabase(serverUrl, datname);
}

const ATTEMPTS = 10;
const OBJECT_IN_USE = "55006";

/** The server waits five seconds for those who still use the database, and refuses if one of their processes was too slow. */
async function execute<R extends QueryResultRow>(url: string, sql: string): Promise<R[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    for (let attempt = 1; ; attempt++) {
      try {
        return (await client.query<R>(sql)).rows;
      } catch (error) {
        if ((error as { code?: string }).code !== OBJECT_IN_USE || attempt === ATTEMPTS) throw error;
      }
    }
  } finally {
    await client.end();
  }
}
