import { randomBytes } from "node:crypto";
import { Client } from "pg";

export interface TestDatabase {
  readonly url: string;
  drop(): Promise<void>;
}

/**
 * Creates an empty database with a random name on the server at `serverUrl`.
 * `drop` closes whatever connections are still open to it, and may be called twice.
 */
export async function createDatabase(serverUrl: string): Promise<TestDatabase> {
  const name = `test_${randomBytes(8).toString("hex")}`;
  await execute(serverUrl, `create database ${name}`);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => execute(serverUrl, `drop database if exists ${name} with (force)`) };
}

const ATTEMPTS = 10;
const OBJECT_IN_USE = "55006";

/** The server waits five seconds for those who still use the database, and refuses if one of their processes was too slow. */
async function execute(url: string, sql: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    for (let attempt = 1; ; attempt++) {
      try {
        await client.query(sql);
        return;
      } catch (error) {
        if ((error as { code?: string }).code !== OBJECT_IN_USE || attempt === ATTEMPTS) throw error;
      }
    }
  } finally {
    await client.end();
  }
}
