import { randomBytes } from "node:crypto";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { createDatabase, type TestDatabase } from "../../../testing/database.ts";
import { openStorage } from "../src/open-storage.ts";
import { openPostgres } from "../src/sql/postgres-database.ts";
import { scopeText } from "../src/sql/scope.ts";
import { fillTables, listTables } from "./filled-tables.ts";

const ANN = scopeText({ user: "ann" });
const BOB = scopeText({ user: "bob" });
/** Holds nothing of users. */
const NOT_USER_DATA = ["schema_migrations"];
/** Read by the server alone, for nobody's request. */
const SERVER_ONLY = ["api_keys", "circuit_breakers", "definition_changes", "rate_limits"];

let database: TestDatabase;
let owner: Client;
let tables: string[];

beforeAll(async () => {
  database = await createDatabase(inject("postgresUrl"));
  await (await openStorage(database.url)).close();
  owner = await connect(database.url);
  tables = (await listTables(owner)).filter((table) => !NOT_USER_DATA.includes(table));
  await fillTables(owner, tables, BOB);
});
afterAll(async () => {
  await owner.end();
  await database.drop();
});

async function connect(url: string): Promise<Client> {
  const client = new Client({ connectionString: url });
  await client.connect();
  return client;
}

/** The application left out: a connection that is the request role, and stays it. */
async function asRequest<T>(scope: string | undefined, use: (client: Client) => Promise<T>): Promise<T> {
  const client = await connect(database.url);
  try {
    await client.query("set session authorization cognition_request");
    if (scope !== undefined) await client.query("select set_config('cognition.scope', $1, false)", [scope]);
    return await use(client);
  } finally {
    await client.end();
  }
}

async function countRows(client: Client, table: string): Promise<number | "denied"> {
  try {
    return Number((await client.query(`select count(*) as n from ${table}`)).rows[0].n);
  } catch (error) {
    if ((error as { code?: string }).code === "42501") return "denied";
    throw error;
  }
}

async function countAll(client: Client): Promise<Record<string, number | "denied">> {
  const counted: Record<string, number | "denied"> = {};
  for (const table of tables) counted[table] = await countRows(client, table);
  return counted;
}

function every(value: number | "denied"): Record<string, number | "denied"> {
  return Object.fromEntries(tables.map((table) => [table, SERVER_ONLY.includes(table) ? "denied" : value]));
}

describe("the database itself, past the application", () => {
  it("has forced row level security on every table of user data", async () => {
    const { rows } = await owner.query(
      `select c.relname as table, c.relrowsecurity and c.relforcerowsecurity as forced,
         (select count(*)::int from pg_policy p where p.polrelid = c.oid) as policies
       from pg_class c where c.relkind = 'r' and c.relname = any($1) order by 1`,
      [tables],
    );
    expect(rows).toEqual(tables.map((table) => ({ table, forced: true, policies: 1 })));
  });

  it("shows a scope none of another's rows, in any table", async () => {
    expect(Object.values(await countAll(owner)), "every table holds a row of Bob's").toEqual(tables.map(() => 1));
    expect(await asRequest(ANN, countAll)).toEqual(every(0));
  });

  it("shows a scope its own rows, in every table", async () => {
    expect(await asRequest(BOB, countAll)).toEqual(every(1));
  });

  it("shows nothing where no scope is set", async () => {
    expect(await asRequest(undefined, countAll)).toEqual(every(0));
    expect(await asRequest("", countAll)).toEqual(every(0));
  });

  it("lets requests' reads write nothing", async () => {
    for (const table of tables) {
      const refused = asRequest(BOB, (client) => client.query(`delete from ${table}`));
      await expect(refused, table).rejects.toMatchObject({ code: "42501" });
    }
  });
});

describe.each(["superuser", "plain user", "user that bypasses row security"] as const)("as a %s", (kind) => {
  const name = `server_${randomBytes(4).toString("hex")}`;
  let url = "";
  let own: TestDatabase;

  beforeAll(async () => {
    own = await createDatabase(inject("postgresUrl"));
    url = own.url;
    if (kind === "superuser") return;
    const rights = kind === "plain user" ? "" : "bypassrls createrole";
    await owner.query(`create role ${name} login ${rights}`);
    await owner.query(`alter database ${new URL(url).pathname.slice(1)} owner to ${name}`);
    const address = new URL(url);
    address.username = name;
    url = address.href;
    if (kind === "plain user") return;
    await owner.query(`grant cognition_request to ${name} with admin option`);
  });
  afterAll(async () => {
    await own.drop();
    if (kind !== "superuser") await owner.query(`drop role ${name}`);
  });

  it("the storage works, its own work sees all, and a query that forgot its condition sees one scope", async () => {
    const storage = await openStorage({ uri: url, pool: { min: 0, max: 2 } });
    const [ann, bob] = [{ user: "ann" }, { user: "bob" }];
    for (const scopes of [ann, bob]) {
      const { id } = await storage.createSession({ scopes });
      await storage.createRun({ session_id: id, message: { role: "user", content: "hello" } });
      await storage.appendEvents({ session_id: id, events: [{ event: "token", data: { content: "x" } }] });
    }
    expect(await storage.countSessions()).toBe(2);
    expect(await storage.countSessions({ scope: ann })).toBe(1);
    expect(await storage.healthCheck()).toMatchObject({ ok: true, row_security: true });
    await storage.close();

    const db = openPostgres({ url, poolMin: 0, poolMax: 1 });
    try {
      for (const table of ["threads", "sessions", "messages", "runs", "events"] as const) {
        const everything = { sql: `select * from ${table}`, params: [] };
        const [all] = await db.readAll([everything]);
        const [hers] = await db.readAll([everything], ANN);
        const [nobodys] = await db.readAll([everything], scopeText({ user: "eve" }));
        expect([all?.rows.length, hers?.rows.length, nobodys?.rows.length], table).toEqual([2, 1, 0]);
        // One connection: what a scoped read set must be gone with it, also after one that failed.
        await db.readAll([{ sql: "select 1 / 0", params: [] }], ANN).catch(() => undefined);
        const [again] = await db.readAll([everything]);
        expect(again?.rows.length, table).toBe(all?.rows.length);
      }
    } finally {
      await db.close();
    }
  });
});
