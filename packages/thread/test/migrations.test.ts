import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { schemaText } from "../scripts/schema-text.ts";
import { openStorage } from "../src/open-storage.ts";
import type { Database } from "../src/sql/database.ts";
import { postgresDialect, sqliteDialect } from "../src/sql/dialect.ts";
import { migrate, migrationHash, schemaState } from "../src/sql/migrate.ts";
import hashes from "../src/sql/migrations/hashes.json" with { type: "json" };
import { migrations } from "../src/sql/migrations/list.ts";
import type { Migration } from "../src/sql/migrations/migration.ts";
import type { Statement } from "../src/sql/statement.ts";
import { startChild } from "./child.ts";
import { emptyDatabases, type TestedDatabase } from "./databases.ts";
import { firstRelease } from "./first-release.ts";

const docs = join(import.meta.dirname, "../../../docs/schema");
const latest = migrations.at(-1)?.version ?? 0;
const STALE = "is out of date: run npm run schema";

function nextRelease(oldestProgram: number, sql = "create table of_a_later_release (id bigint)"): Migration {
  return { version: latest + 1, name: "later", oldestProgram, up: () => [sql] };
}

it("released migrations are what they were", () => {
  const now = migrations.map((migration) => [
    `${migration.version}`,
    { sqlite: migrationHash(migration, sqliteDialect), postgres: migrationHash(migration, postgresDialect) },
  ]);
  expect(hashes, "a released migration never changes; add a new one").toEqual(Object.fromEntries(now));
});

it("are numbered 1, 2, 3 …, and none shuts out a program of its own release", () => {
  expect(migrations.map(({ version }) => version)).toEqual(migrations.map((_, index) => index + 1));
  for (const { version, oldestProgram } of migrations) expect(oldestProgram).toBeLessThanOrEqual(version);
});

it("only expand: what a program of the release before reads or writes stays where it is", () => {
  const contracting =
    /\bdrop (?!index|not null)|\b(rename|truncate)\b|\balter column (?!\w+ drop not null)|\bset not null\b|add column [^,]*not null(?!.*default)/i;
  // A column that is made anew under its own name, where SQLite can't change it: before the commit nobody sees it gone.
  const remade = /\w_remade\b/;
  for (const { version, oldestProgram, up } of migrations) {
    if (oldestProgram === version) continue; // it says itself that programs before it must not come
    const statements = [sqliteDialect, postgresDialect].flatMap((dialect) => up(dialect));
    expect(statements.filter((sql) => contracting.test(sql) && !remade.test(sql))).toEqual([]);
  }
});

describe.each(emptyDatabases)("on $name", ({ name, create }) => {
  const test = (title: string, body: (database: TestedDatabase, db: Database) => Promise<void>, tags: string[] = []) =>
    it(title, { tags }, async () => {
      const database = await create();
      const db = database.open();
      try {
        await body(database, db);
      } finally {
        await db.close();
        await database.remove();
      }
    });

  test("the schema is the documented one", async (_, db) => {
    await migrate(db);
    const documented = readFileSync(join(docs, `${name}.sql`), "utf8");
    expect(await schemaText(db), `docs/schema/${name}.sql ${STALE}`).toBe(documented);
  });

  test("a database of the first release comes to the same schema, with what it holds", async (_, db) => {
    await migrate(db, firstRelease);
    const artifact = (id: string, session_id: string) =>
      bare(`insert into artifacts (id, scope, session_id, name, artifact_type, visibility, version, created_at, updated_at)
        values ('${id}', '{}', ${session_id}, 'notes', 'scratch', 'private', 1, 'then', 'then')`);
    const version = `insert into artifact_versions (artifact_id, version, content, content_type, encoding, size, hash, created_at)
      values ('a', 1, '', 'text/plain', 'utf8', 0, 'h', 'then')`;
    await expect(db.atomic([artifact("b", "null")])).rejects.toMatchObject({
      cause: { message: expect.stringMatching(/null/i) },
    });
    await db.atomic([artifact("a", "'s'"), bare(version)]);
    await migrate(db);
    expect(await schemaText(db)).toBe(readFileSync(join(docs, `${name}.sql`), "utf8"));
    await db.atomic([artifact("b", "null")]);
    expect(await db.read(db.q.selectFrom("artifacts").select(["id", "session_id"]).orderBy("id"))).toEqual([
      { id: "a", session_id: "s" },
      { id: "b", session_id: null },
    ]);
    expect(await db.read(db.q.selectFrom("artifact_versions").select("artifact_id"))).toEqual([{ artifact_id: "a" }]);
  });

  test("a checkpoint that was its own parent has none any more", async (_, db) => {
    await migrate(db, migrations.slice(0, 13));
    const thread = "insert into threads (thread_id, scope, created_at) values ('t', '{}', 'then')";
    const checkpoint = (seq: number, id: string, parent: string) =>
      `insert into checkpoints (thread, seq, ns, checkpoint_id, parent_id, body, metadata)
       select pk, ${seq}, '', '${id}', '${parent}', ${name === "sqlite" ? "x'00'" : "'\\x00'"}, '{}' from threads`;
    await db.atomic([thread, checkpoint(1, "a", "a"), checkpoint(2, "b", "a")].map(bare));
    await migrate(db);
    const parents = db.q.selectFrom("checkpoints").select(["checkpoint_id", "parent_id"]).orderBy("seq");
    expect(await db.read(parents)).toEqual([
      { checkpoint_id: "a", parent_id: null },
      { checkpoint_id: "b", parent_id: "a" },
    ]);
  });

  test("deliveries of sessions that were deleted before are gone, but those that are owed", async (_, db) => {
    await migrate(db, migrations.slice(0, 16));
    const session = `insert into sessions (id, thread_id, scope, status, agent_name, mode, config, metadata, created_at, updated_at)
      values ('kept', 't', '{}', 'active', 'a', 'auto', '{}', '{}', 'then', 'then')`;
    const delivery = (session_id: string, status: string) =>
      `insert into deliveries (id, session_id, run_id, scope, url, payload, status, attempts, created_at)
       values ('${session_id} ${status}', '${session_id}', 'r', '{}', 'u', '{}', '${status}', '[]', 'then')`;
    const each = ["kept", "gone"].flatMap((id) => ["pending", "delivered", "dead"].map((was) => delivery(id, was)));
    await db.atomic([session, ...each].map(bare));
    await migrate(db);
    const left = await db.read(db.q.selectFrom("deliveries").select("id").orderBy("id"));
    expect(left.map(({ id }) => id)).toEqual(["gone pending", "kept dead", "kept delivered", "kept pending"]);
  });

  test(
    "processes that migrate a fresh database at once all come to the same schema",
    async ({ uri }, db) => {
      const children = Array.from({ length: 3 }, () => startChild("open", { uri }));
      try {
        await Promise.all(children.map((child) => child.next()));
        for (const child of children) child.go();
        for (const child of children) expect(await child.next()).toEqual({ schema_version: latest });
      } finally {
        await Promise.all(children.map((child) => child.kill()));
      }
      expect(await appliedVersions(db)).toEqual(migrations.map(({ version }) => version));
    },
    ["long"],
  );

  test("migrating again changes nothing", async (_, db) => {
    await migrate(db);
    const before = await everything(db);
    expect(await migrate(db)).toMatchObject({ version: latest, program: latest });
    expect(await everything(db)).toEqual(before);
  });

  test("a later release's database opens while it allows this program", async ({ uri }, db) => {
    await migrate(db, [...migrations, nextRelease(latest)]);
    for (const mode of [true, false]) {
      const storage = await openStorage({ uri, migrate: mode });
      expect(await storage.healthCheck()).toMatchObject({ ok: true, schema_version: latest + 1 });
      expect(await storage.createSession({})).toMatchObject({ status: "active" });
      await storage.close();
    }
  });

  test("a later release's database that does not allow this program is refused untouched", async ({ uri }, db) => {
    await migrate(db, [...migrations, nextRelease(latest + 1)]);
    const before = await everything(db);
    for (const mode of [true, false]) {
      const refused = openStorage({ uri, migrate: mode });
      await expect(refused).rejects.toMatchObject({ code: "schema_too_new", details: { version: latest + 1 } });
    }
    expect(await everything(db)).toEqual(before);
  });

  test("a database that must not be migrated and would have to be is refused untouched", async ({ uri }, db) => {
    await expect(openStorage({ uri, migrate: false })).rejects.toMatchObject({ code: "schema_outdated" });
    expect(await schemaText(db)).toBe("");
  });

  test("another program's database is refused, and keeps what it has", async ({ uri }, db) => {
    await db.atomic(["create table messages (mine text)", "insert into messages values ('x')"].map(bare));
    const before = await schemaText(db);
    const refused = openStorage(uri);
    await expect(refused).rejects.toMatchObject({
      code: "migration_failed",
      message: expect.stringContaining("messages"),
    });
    expect(await schemaText(db)).toBe(before);
    expect(await db.readAll([bare("select mine from messages")])).toMatchObject([{ rows: [{ mine: "x" }] }]);
  });

  test("a migration that fails half-way leaves nothing of itself", async (_, db) => {
    await migrate(db);
    const before = await everything(db);
    const broken = nextRelease(latest);
    const failing = { ...broken, up: () => ["create table half (id bigint)", "create table threads (id bigint)"] };
    await expect(migrate(db, [...migrations, failing])).rejects.toThrow(/threads/);
    expect(await everything(db)).toEqual(before);
    expect((await schemaState(db)).version).toBe(latest);
  });
});

function bare(sql: string): Statement {
  return { sql, params: [] };
}

async function appliedVersions(db: Database): Promise<number[]> {
  const [applied] = await db.readAll([{ sql: "select version from schema_migrations order by version", params: [] }]);
  return (applied?.rows ?? []).map((row) => Number(row["version"]));
}

async function everything(db: Database): Promise<unknown> {
  const [applied] = await db.readAll([{ sql: "select * from schema_migrations order by version", params: [] }]);
  return { schema: await schemaText(db), applied: applied?.rows };
}
