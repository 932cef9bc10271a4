import { join } from "node:path";
import { describe } from "vitest";
import { createMemoryDir } from "../../../testing/temp-dir.ts";
import type { OpenStorage, StorageFixture } from "../src/conformance/open-storage-fixture.ts";
import { openStorage } from "../src/open-storage.ts";
import type { Storage } from "../src/storage.ts";
import { createMigratedDatabase, writeMigratedFile } from "./migrated-database.ts";

export interface Engine {
  readonly name: "memory" | "sqlite" | "postgres";
  readonly open: OpenStorage;
}

/** The one list of engines: every contract suite runs over all of them. */
export const engines: readonly Engine[] = [
  { name: "memory", open: openMemory },
  { name: "sqlite", open: openSqliteFile },
  { name: "postgres", open: openPostgresDatabase },
];

/**
 * Which suite runs on what, and when. In memory it is all SQLite's code but the opener, and a file can do whatever that can, be
 * opened again and shared besides: the check has each suite on the file and on PostgreSQL, and leaves it in memory to
 * `npm run test:long`. What only memory does, the server's tests show, which have their storage there.
 */
export function onEveryEngine(title: string, suite: (open: OpenStorage) => void, of = engines): void {
  for (const { name, open } of of) {
    describe(`${title} on ${name}`, { tags: name === "memory" ? ["long"] : [] }, () => suite(open));
  }
}

async function openMemory(): Promise<StorageFixture> {
  const storage = await openStorage("memory");
  return { storage, dispose: () => storage.close() };
}

export async function openSqliteFile(): Promise<StorageFixture> {
  const dir = createMemoryDir();
  const path = join(dir.path, "state.db");
  await writeMigratedFile(path);
  return openShared(path, async () => dir.remove());
}

async function openPostgresDatabase(): Promise<StorageFixture> {
  const database = await createMigratedDatabase();
  return openShared(database.url, database.drop);
}

async function openShared(uri: string, remove: () => Promise<void>): Promise<StorageFixture> {
  const opened: Storage[] = [];
  const open = async () => {
    // Four connections are enough to have statements of one instance meet, and the server has room for every test file.
    const storage = await openStorage({ uri, pool: { min: 0, max: 4 } });
    opened.push(storage);
    return storage;
  };
  const storage = await open();
  return {
    storage,
    reopen: async () => {
      await storage.close();
      return open();
    },
    second: open,
    dispose: async () => {
      await Promise.all(opened.map((each) => each.close()));
      await remove();
    },
  };
}
