import { setTimeout } from "node:timers/promises";
import { Client } from "pg";
import type { TestDatabase } from "./database.ts";

interface Recyclable {
  readonly database: TestDatabase;
  readonly admin: Client;
  /** What a test may have written to. */
  readonly tables: readonly string[];
}

const CLIENTS = `select application_name, query from pg_stat_activity
  where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`;
/**
 * A process whose connection was closed a moment ago may still be ending. Less than the ten seconds after which a pool closes what
 * it does not use: a storage that a test has forgotten would pass for one that is closed.
 */
const LEAVE_MS = 5_000;
/** A new one has none either: planned by what a test before has left in it, a query may take hundreds of times as long. */
const FORGET_STATISTICS = `
  delete from pg_statistic where starelid in (select oid from pg_class where relnamespace = 'public'::regnamespace);
  update pg_class set relpages = 0, reltuples = -1 where relnamespace = 'public'::regnamespace and reltuples <> -1`;
const RESTART_NUMBERS =
  "select setval(format('%I.%I', schemaname, sequencename)::regclass, 1, false) from pg_sequences where last_value is not null";

/**
 * Databases that pass from test to test: one that a test is done with is emptied for the next, which takes a sixth of the time
 * of a new one. The schema stays as it is, so whoever changes that makes a database of its own.
 */
export class RecycledDatabases {
  readonly #make: () => Promise<TestDatabase>;
  readonly #leave_ms: number;
  readonly #made: Recyclable[] = [];
  readonly #free: Recyclable[] = [];

  /** `make` gives one with the schema and no rows; whoever used it has so long to leave. */
  constructor(make: () => Promise<TestDatabase>, leave_ms = LEAVE_MS) {
    this.#make = make;
    this.#leave_ms = leave_ms;
  }

  /**
   * An empty one; its `drop` gives it back, and may be called twice. It fails while somebody is connected: a server that a test
   * has left running would work on the runs of every test after it.
   */
  async take(): Promise<TestDatabase> {
    const emptied = this.#free.pop();
    await emptied?.admin.query(FORGET_STATISTICS);
    const taken = emptied ?? (await this.#makeOne());
    let isGivenBack = false;
    const drop = async () => {
      if (isGivenBack) return;
      isGivenBack = true;
      await everyoneHasLeft(taken.admin, this.#leave_ms);
      await empty(taken);
      this.#free.push(taken);
    };
    return { ...taken.database, drop };
  }

  /** Drops all that were made. */
  async close(): Promise<void> {
    for (const { database, admin } of this.#made.splice(0)) {
      await admin.end();
      await database.drop();
    }
    this.#free.length = 0;
  }

  async #makeOne(): Promise<Recyclable> {
    const database = await this.#make();
    const admin = new Client({ connectionString: database.url });
    await admin.connect();
    // It has that, though its types don't say so: a test process ends though nobody has closed these.
    (admin as Client & { unref(): void }).unref();
    // Rows go in whatever order: nobody asks what refers to them.
    await admin.query("set session_replication_role = replica");
    const { rows } = await admin.query<{ name: string }>(
      "select format('%I', tablename) as name from pg_tables where schemaname = 'public' and tablename <> 'schema_migrations'",
    );
    const made = { database, admin, tables: rows.map(({ name }) => name) };
    this.#made.push(made);
    return made;
  }
}

async function everyoneHasLeft(admin: Client, leave_ms: number): Promise<void> {
  const until = performance.now() + leave_ms;
  for (;;) {
    const { rows } = await admin.query(CLIENTS);
    if (rows.length === 0) return;
    if (performance.now() > until) throw new Error(`The database is still in use: ${JSON.stringify(rows)}`);
    await setTimeout(5);
  }
}

async function empty({ admin, tables }: Recyclable): Promise<void> {
  const held = tables.map((table) => `select '${table}' as name where exists (select from ${table})`);
  const { rows } = await admin.query<{ name: string }>(held.join(" union all "));
  const deletes = rows.map(({ name }) => `delete from ${name};`);
  await admin.query(`${deletes.join(" ")} ${RESTART_NUMBERS}`);
}
