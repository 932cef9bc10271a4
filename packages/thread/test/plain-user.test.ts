import { randomBytes } from "node:crypto";
import { Client } from "pg";
import { afterAll, beforeAll, describe, inject } from "vitest";
import { createDatabase, type TestDatabase } from "../../../testing/database.ts";
import { RecycledDatabases } from "../../../testing/recycled-databases.ts";
import type { StorageFixture } from "../src/conformance/open-storage-fixture.ts";
import { runContract } from "../src/conformance/run-contract.ts";
import { sessionContract } from "../src/conformance/session-contract.ts";
import { storeContract } from "../src/conformance/store-contract.ts";
import { openStorage } from "../src/open-storage.ts";
import type { Storage } from "../src/storage.ts";

/** A user with no rights but on its own databases: the policies hold for it in all it does. */
const owner = `plain_${randomBytes(6).toString("hex")}`;
const server = inject("postgresUrl");
const administrator = new Client({ connectionString: server });
const databases = new RecycledDatabases(createMigrated);

beforeAll(async () => {
  await administrator.connect();
  await administrator.query(`create role ${owner} login nosuperuser nocreaterole`);
});

afterAll(async () => {
  await databases.close();
  await administrator.query(`drop role ${owner}`);
  await administrator.end();
});

async function createMigrated(): Promise<TestDatabase> {
  const database = await createDatabase(server, { owner });
  const storage = await openAsOwner(database);
  await storage.close();
  return database;
}

async function open(): Promise<StorageFixture> {
  const database = await databases.take();
  const storage = await openAsOwner(database);
  return {
    storage,
    dispose: async () => {
      await storage.close();
      await database.drop();
    },
  };
}

function openAsOwner(database: TestDatabase): Promise<Storage> {
  const uri = new URL(database.url);
  uri.username = owner;
  return openStorage({ uri: uri.href, pool: { min: 0, max: 4 } });
}

describe("a plain user of PostgreSQL", () => {
  sessionContract(open);
  runContract(open);
  storeContract(open);
});
