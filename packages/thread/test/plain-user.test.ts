import { randomBytes } from "node:crypto";
import { Client } from "pg";
import { describe, inject } from "vitest";
import { createDatabase } from "../../../testing/database.ts";
import type { StorageFixture } from "../src/conformance/open-storage-fixture.ts";
import { runContract } from "../src/conformance/run-contract.ts";
import { sessionContract } from "../src/conformance/session-contract.ts";
import { storeContract } from "../src/conformance/store-contract.ts";
import { openStorage } from "../src/open-storage.ts";

/** A user with no rights but on its own database: the policies hold for it in all it does. */
async function open(): Promise<StorageFixture> {
  const database = await createDatabase(inject("postgresUrl"));
  const name = `plain_${randomBytes(6).toString("hex")}`;
  const server = new Client({ connectionString: inject("postgresUrl") });
  await server.connect();
  await server.query(`create role ${name} login nosuperuser nocreaterole`);
  await server.query(`alter database ${new URL(database.url).pathname.slice(1)} owner to ${name}`);
  const uri = new URL(database.url);
  uri.username = name;
  const storage = await openStorage({ uri: uri.href, pool: { min: 0, max: 4 } });
  return {
    storage,
    dispose: async () => {
      await storage.close();
      await database.drop();
      await server.query(`drop role ${name}`);
      await server.end();
    },
  };
}

describe("a plain user of PostgreSQL", () => {
  sessionContract(open);
  runContract(open);
  storeContract(open);
});
