import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { inspect } from "node:util";
import { Client } from "pg";
import { afterEach, beforeEach, describe, expect, inject, it } from "vitest";
import { createDatabase, type TestDatabase } from "../../../testing/database.ts";
import { createTempDir, type TempDir } from "../../../testing/temp-dir.ts";
import { until } from "../src/conformance/until.ts";
import { openStorage } from "../src/open-storage.ts";
import { startChild } from "./child.ts";

const NOBODY = 65_534;

async function failure(uri: string): Promise<{ code: string; message: string }> {
  return openStorage({ uri, busy_timeout_ms: 200, pool: { min: 0, max: 1 } }).then(
    () => Promise.reject(new Error("it opened")),
    (error) => error,
  );
}

describe("SQLite", () => {
  let dir: TempDir;
  beforeEach(() => {
    dir = createTempDir();
  });
  afterEach(() => dir.remove());

  it("a directory is not a database", async () => {
    const path = join(dir.path, "folder.db");
    mkdirSync(path);
    expect(await failure(path)).toMatchObject({
      code: "storage_unavailable",
      message: expect.stringContaining(`${path} is a directory`),
    });
    expect(readdirSync(path)).toEqual([]);
  });

  it.each(["file/state.db", "file/deeper/state.db"])("%s can't be below a file", async (name) => {
    writeFileSync(join(dir.path, "file"), "text");
    const path = join(dir.path, name);
    const message = expect.stringMatching(/state\.db can't be made, because .*file is a file/);
    expect(await failure(path)).toMatchObject({ code: "storage_unavailable", message });
    expect(readdirSync(dir.path)).toEqual(["file"]);
  });

  it("a file that is no database stays as it is", async () => {
    const path = join(dir.path, "notes.db");
    const text = "Notes that somebody wrote down, a few lines of them.\n".repeat(100);
    writeFileSync(path, text);
    expect(await failure(path)).toMatchObject({ code: "corrupt_data", message: expect.stringContaining(path) });
    expect(readFileSync(path, "utf8")).toBe(text);
    expect(readdirSync(dir.path)).toEqual(["notes.db"]);
  });

  it.skipIf(process.platform === "win32")(
    "a read-only folder is named, and so is a read-only file",
    { tags: "long" },
    async () => {
      const folder = join(dir.path, "locked");
      mkdirSync(folder);
      writeFileSync(join(folder, "old.db"), "");
      chmodSync(join(folder, "old.db"), 0o444);
      chmodSync(dir.path, 0o755);
      chmodSync(folder, 0o555);
      const messages = new Map<string, unknown>();
      for (const name of ["new.db", "deep/new.db", "old.db"]) {
        // Only root needs another user for it, and only root may become one.
        const child = startChild("open", { uri: join(folder, name), ...(process.getuid?.() === 0 && { uid: NOBODY }) });
        await child.next();
        child.go();
        messages.set(name, await child.next());
        await child.kill();
      }
      const refused = {
        code: "storage_unavailable",
        message: expect.stringMatching(/locked is not writable for this user/),
      };
      for (const message of messages.values()) expect(message).toMatchObject(refused);
      chmodSync(folder, 0o755);
      expect(readdirSync(folder)).toEqual(["old.db"]);
    },
  );

  it("a file that another process has locked is busy, and opens once it is let go", async () => {
    const path = join(dir.path, "state.db");
    await (await openStorage(path)).close();
    const holder = startChild("hold-lock", { path });
    try {
      await holder.next();
      expect(await failure(path)).toMatchObject({ code: "storage_busy", message: expect.stringContaining(path) });
      const patient = openStorage({ uri: path, busy_timeout_ms: 20_000 });
      holder.go();
      expect(await holder.next()).toBe("released");
      await (await patient).close();
    } finally {
      await holder.kill();
    }
  });
});

describe("PostgreSQL", () => {
  const PASSWORD = "pa55-w0rd-of-nobody";
  const withUser = (url: string, change: (url: URL) => void) => {
    const changed = new URL(url);
    changed.username = "postgres";
    changed.password = PASSWORD;
    change(changed);
    return changed.href;
  };
  const expectNoPassword = (error: unknown) =>
    expect(inspect(error, { depth: 20, showHidden: true })).not.toContain(PASSWORD);

  it("a server that is not there is told by host and port", async () => {
    for (const hostname of ["127.0.0.1", "localhost"]) {
      const url = withUser(inject("postgresUrl"), (url) => {
        url.hostname = hostname;
        url.port = "1";
      });
      const error = await failure(url);
      expect(error).toMatchObject({ code: "storage_unavailable", message: expect.stringContaining(`${hostname}:1`) });
      expect(error.message).toContain("no server answers there");
      expectNoPassword(error);
    }
  });

  it("a host that has no address is told", async () => {
    const url = withUser(inject("postgresUrl"), (url) => {
      url.hostname = "no-such-host.invalid";
    });
    const error = await failure(url);
    expect(error).toMatchObject({
      code: "storage_unavailable",
      message: expect.stringContaining("no-such-host.invalid"),
    });
    expectNoPassword(error);
  });

  it("a database that is missing is told by name", async () => {
    const url = withUser(inject("postgresUrl"), (url) => {
      url.pathname = "/no_such_database";
    });
    const error = await failure(url);
    const message = expect.stringContaining('no database "no_such_database"');
    expect(error).toMatchObject({ code: "storage_unavailable", message });
    expectNoPassword(error);
  });

  describe("with passwords", () => {
    let database: TestDatabase;
    let admin: Client;
    let rules: string;
    const role = `locked_${process.pid}`;

    beforeEach(async () => {
      database = await createDatabase(inject("postgresUrl"));
      admin = new Client({ connectionString: inject("postgresUrl") });
      await admin.connect();
      await admin.query(`create role ${role} login password 'right'`);
      rules = (await admin.query("select pg_read_file(current_setting('hba_file')) as text")).rows[0].text;
      // For this one role: the rest of the test run goes on without passwords.
      await writeRules(`host all ${role} all scram-sha-256\n${rules}`);
      await until("the new rules to be in force", () =>
        connect(urlOfRole("wrong")).then(
          () => undefined,
          () => true,
        ),
      );
    });
    afterEach(async () => {
      await writeRules(rules);
      await database.drop();
      await admin.query(`drop role ${role}`);
      await admin.end();
    });

    const urlOfRole = (password: string) =>
      withUser(database.url, (url) => {
        url.username = role;
        url.password = password;
      });

    async function connect(url: string): Promise<void> {
      const client = new Client({ connectionString: url });
      await client.connect();
      await client.end();
    }

    /** The server writes its own file, so it may be any server that lets the test do so. */
    async function writeRules(text: string): Promise<void> {
      const { oid } = (await admin.query("select lo_from_bytea(0, $1) as oid", [Buffer.from(text)])).rows[0];
      await admin.query("select lo_export($1, current_setting('hba_file')), lo_unlink($1)", [oid]);
      await admin.query("select pg_reload_conf()");
    }

    it("a wrong password is told without it, and what the user may not do is told too", async () => {
      const error = await failure(urlOfRole(PASSWORD));
      expect(error).toMatchObject({
        code: "storage_unavailable",
        message: expect.stringContaining(`refused user "${role}"`),
      });
      expectNoPassword(error);
      const unprivileged = await failure(urlOfRole("right"));
      expect(unprivileged).toMatchObject({
        code: "storage_unavailable",
        message: expect.stringContaining("may not make tables"),
      });
    });
  });
});
