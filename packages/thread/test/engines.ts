import { join } from "node:path";
import { createMemoryDir } from "../../../testing/temp-dir.ts";
import type { OpenStorage, StorageFixture } from "../src/conformance/open-storage-fixture.ts";
import { openStorage } from "../src/open-storage.ts";
import type { Storage } from "../src/storage.ts";
import { createMigratedDatabase } from "./migrated-database.ts";

/** The one list of engines: every contract suite runs over all of them. */
export const engines: readonly { name: string; open: OpenStorage }[] = [
  { name: "memory", open: openMemory },
  { name: "sqlite", open: openSqliteFile },
  { name: "postgres", open: openPostgresDatabase },
];

async function openMemory(): Promise<StorageFixture> {
  const storage = await openStorage("memory");
  return { storage, dispose: () => storage.close() };
}

function openSqliteFile(): Promise<StorageFixture> {
  const dir = createMemoryDir();
  return openShared(join(dir.path, "state.db"), async () => dir.remove());
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
