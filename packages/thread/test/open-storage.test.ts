import { chmodSync, existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { createDatabase, type TestDatabase } from "../../../testing/database.ts";
import { createTempDir } from "../../../testing/temp-dir.ts";
import { type OpenStorageOptions, openStorage } from "../src/open-storage.ts";
import { systemContext } from "../src/sql/context.ts";
import { migrations } from "../src/sql/migrations/list.ts";
import { createSqlStorage } from "../src/sql/sql-storage.ts";
import { backupSqlite } from "../src/sql/sqlite-backup.ts";
import { openSqlite } from "../src/sql/sqlite-database.ts";
import type { Storage } from "../src/storage.ts";

const dir = createTempDir();
const workspace = dir.path;
let database: TestDatabase;

beforeAll(async () => {
  database = await createDatabase(inject("postgresUrl"));
});
afterAll(async () => {
  await database.drop();
  dir.remove();
});

async function opens(options: string | OpenStorageOptions, backend: Storage["backend"]): Promise<void> {
  const storage = await openStorage(options);
  expect(storage.backend).toBe(backend);
  expect(await storage.healthCheck()).toMatchObject({ backend, ok: true, schema_version: migrations.length });
  await storage.close();
}

describe("what a URI means", () => {
  it("nothing is SQLite at .cognition/state.db in the workspace, folders and all", async () => {
    await opens({ workspace }, "sqlite");
    expect(existsSync(join(workspace, ".cognition/state.db"))).toBe(true);
  });

  it.skipIf(process.platform === "win32")(
    "a new file is its owner's alone, whatever the umask; one that is there stays",
    async () => {
      const path = join(workspace, "private.db");
      const before = process.umask(0);
      try {
        const storage = await openStorage(path);
        const modes = ["", "-wal", "-shm"].map((suffix) => statSync(path + suffix).mode & 0o777);
        await storage.close();
        expect(modes).toEqual([0o600, 0o600, 0o600]);
        backupSqlite({ path, target: join(workspace, "copy.db") });
        expect(statSync(join(workspace, "copy.db")).mode & 0o777).toBe(0o600);
        chmodSync(path, 0o640);
        await (await openStorage(path)).close();
        expect(statSync(path).mode & 0o777).toBe(0o640);
      } finally {
        process.umask(before);
      }
    },
  );

  it.each([
    ["a variable that holds nothing", undefined, "undefined"],
    ["null", null, "null"],
    ["an option that is a variable that holds nothing", { uri: undefined }, "uri is undefined"],
    ["a URI that is no text", { uri: new URL("postgresql://localhost/db") }, "uri is"],
    ["an option that there is not", { url: "postgresql://localhost/db" }, "no option url; it takes backend, uri"],
    ["a list", ["state.db"], "state.db"],
  ])("%s is refused, rather than taken for the default", async (_, options, named) => {
    const refused = openStorage(options as unknown as OpenStorageOptions);
    await expect(refused).rejects.toMatchObject({ code: "invalid_config", message: expect.stringContaining(named) });
  });

  it.each([
    ["a/b/rel.db", "a/b/rel.db"],
    ["rel.sqlite", "rel.sqlite"],
    ["sqlite:scheme.db", "scheme.db"],
    ["sqlite:no-extension", "no-extension"],
    ["päth with spaces & 日本語.db", "päth with spaces & 日本語.db"],
  ])("%s is a SQLite file in the workspace", async (uri, file) => {
    await opens({ uri, workspace }, "sqlite");
    expect(existsSync(join(workspace, file))).toBe(true);
  });

  it("a path of any name is a SQLite file when the backend says so", async () => {
    await opens({ backend: "sqlite", uri: "data", workspace }, "sqlite");
    await opens(join(workspace, "absolute.db"), "sqlite");
    await opens(`sqlite://${join(workspace, "absolute.db")}`, "sqlite");
    expect(["data", "absolute.db"].filter((file) => !existsSync(join(workspace, file)))).toEqual([]);
  });

  it.each([":memory:", "memory", "memory:", "sqlite::memory:"])("%s is gone when closed", async (uri) => {
    for (const options of [uri, { uri, backend: "memory" as const }]) {
      await opens(options, "memory");
      const storage = await openStorage(options);
      await storage.createSession({});
      await storage.close();
      const again = await openStorage(options);
      expect(await again.countSessions()).toBe(0);
      await again.close();
    }
  });

  it("the memory backend needs no URI, and two of them share nothing", async () => {
    const [one, two] = [await openStorage({ backend: "memory" }), await openStorage({ backend: "memory" })];
    await one.createSession({});
    expect(await two.countSessions()).toBe(0);
    await Promise.all([one.close(), two.close()]);
  });

  it.each(["postgres", "postgresql", "postgresql+asyncpg", "postgresql+psycopg"])(
    "%s:// is PostgreSQL",
    async (scheme) => {
      const uri = database.url.replace(/^postgres(ql)?/, scheme);
      await opens(uri, "postgres");
      await opens({ backend: "postgres", uri, pool: { min: 0, max: 2 } }, "postgres");
    },
  );

  it("clock and ids come in through the door", async () => {
    let n = 0;
    const clock = () => new Date("2030-01-02T03:04:05.678Z");
    const storage = await openStorage({ backend: "memory", clock, ids: () => `id-${++n}` });
    const session = await storage.createSession({});
    expect(session).toMatchObject({ id: "id-1", thread_id: "id-2", created_at: "2030-01-02T03:04:05.678Z" });
    await storage.close();
  });
});

describe("what is refused before anything is touched", () => {
  const valid = /sqlite.*postgres.*memory/;

  it.each<[OpenStorageOptions, string, RegExp]>([
    [{ backend: "mysql" as "sqlite" }, "unknown_backend", valid],
    [{ backend: "" as "sqlite" }, "unknown_backend", valid],
    [{ uri: "mysql://user:secret@host/db" }, "unknown_backend", valid],
    [{ uri: "sqlite+aiosqlite:///x.db" }, "unknown_backend", valid],
    [{ uri: "state" }, "unknown_backend", valid],
    [{ uri: "" }, "invalid_config", /empty/],
    [{ uri: "sqlite:" }, "invalid_config", /empty/],
    [{ uri: "a\0b.db" }, "invalid_config", /U\+0000/],
    [{ backend: "postgres" }, "invalid_config", /needs a URI/],
    [{ backend: "postgres", uri: "x.db" }, "invalid_config", /"postgres".*"sqlite"/],
    [{ backend: "sqlite", uri: "postgres://user:secret@host/db" }, "invalid_config", /"sqlite".*"postgres"/],
    [{ backend: "memory", uri: "x.db" }, "invalid_config", /"memory".*"sqlite"/],
    [{ backend: "sqlite", uri: ":memory:" }, "invalid_config", /"sqlite".*"memory"/],
    [{ uri: "postgres://user:sec#ret/secret@host:x/db" }, "invalid_config", /can't be read/],
    [{ uri: "postgresql://user:secret%@host/db" }, "invalid_config", /can't be read.*%25/],
    [{ uri: "postgresql://user:secret@host/d%ffb" }, "invalid_config", /can't be read/],
    [{ uri: "postgresql://host/db?sslmode=on" }, "invalid_config", /sslmode=on.*valid are disable, no-verify/],
    [{ uri: "postgresql+asyncpg://host/db?ssl=yes" }, "invalid_config", /sslmode=yes/],
    [{ uri: "postgresql://host/db?sslrootcert=/no/such.pem" }, "invalid_config", /sslrootcert=\/no\/such\.pem/],
    [{ backend: "memory", pool: { min: 3, max: 2 } }, "invalid_config", /pool/],
    [{ backend: "memory", pool: { max: 0 } }, "invalid_config", /pool/],
    [{ backend: "memory", busy_timeout_ms: Number.NaN }, "invalid_config", /busy_timeout_ms/],
  ])("%j is %s", async (options, code, message) => {
    const empty = createTempDir();
    const error = await openStorage({ workspace: empty.path, ...options }).catch((reason) => reason);
    expect(error).toMatchObject({ code, message: expect.stringMatching(message) });
    expect(`${error}${JSON.stringify(error)}`).not.toContain("secret");
    expect(readdirSync(empty.path)).toEqual([]);
    empty.remove();
  });
});

describe("before and after", () => {
  const sessionArgs = ["id", {}] as const;

  it("every call before initialize rejects with not_initialized", async () => {
    const ctx = systemContext(openSqlite({ path: ":memory:" }));
    const storage = createSqlStorage({ backend: "memory", ctx, migrate: true });
    await expectAll(storage, "not_initialized", ["initialize", "close", "closeCheckpointer"]);
    await Promise.all([storage.initialize(), storage.initialize()]);
    expect(await storage.countSessions()).toBe(0);
    await storage.close();
  });

  it("every call after close rejects with storage_closed, and closing again is harmless", async () => {
    const storage = await openStorage("memory");
    await storage.createSession({});
    await Promise.all([storage.close(), storage.close()]);
    await storage.close();
    await expectAll(storage, "storage_closed", ["close", "closeCheckpointer", "healthCheck"]);
    expect(await storage.healthCheck()).toMatchObject({ ok: false, error: expect.stringContaining("closed") });
  });

  async function expectAll(storage: Storage, code: string, except: string[]): Promise<void> {
    const { followEvents, followEventBatches, backend: _, ...rest } = storage;
    const parts = [rest, ...Object.values(rest).filter((part) => typeof part === "object")];
    const entries = parts.flatMap((part) => Object.entries(part));
    const methods = entries.filter(([name, value]) => typeof value === "function" && !except.includes(name));
    expect(methods.length).toBeGreaterThan(40);
    for (const [name, method] of methods) {
      const call = (method as (...args: unknown[]) => Promise<unknown>)(...sessionArgs);
      await expect(call, name).rejects.toMatchObject({ code });
    }
    for (const follow of [followEvents, followEventBatches]) {
      const first = follow({ session_id: "s", after: 0 })[Symbol.asyncIterator]().next();
      await expect(first).rejects.toMatchObject({ code });
    }
  }

  it("health is asked of the database: a server that is gone is not ok, and does not throw", async () => {
    const gone = await createDatabase(inject("postgresUrl"));
    const storage = await openStorage({ uri: gone.url, pool: { min: 0, max: 1 } });
    expect(await storage.healthCheck()).toMatchObject({ ok: true });
    await gone.drop();
    expect(await storage.healthCheck()).toMatchObject({ backend: "postgres", ok: false, error: expect.any(String) });
    await storage.close();
  });

  it("the checkpointer is the same each time", async () => {
    const storage = await openStorage("memory");
    expect(await storage.getCheckpointer()).toBe(await storage.getCheckpointer());
    await storage.closeCheckpointer();
    await storage.close();
  });
});
