import type { BaseCheckpointSaver } from "@langchain/langgraph-checkpoint";
import type { OpenSide, Place } from "./open-side.ts";
import type { Side } from "./sides.ts";

/** What the benchmark needs of packages that the workspace doesn't have, and so has no types of. */
interface SqliteModule {
  SqliteSaver: { fromConnString(path: string): BaseCheckpointSaver & { db: SqliteHandle } };
}
interface SqliteHandle {
  prepare(sql: string): SqliteStatement;
  pragma(source: string): unknown;
  close(): void;
}
interface SqliteStatement {
  all(): unknown[];
}
interface PostgresModule {
  PostgresSaver: {
    fromConnString(url: string): BaseCheckpointSaver & { setup(): Promise<void>; end(): Promise<void> };
  };
}

/** `synchronous` from which on SQLite waits for the disk at every commit to the WAL. */
const FULL = 2;

export function openOfficial(side: Side, place: Place): Promise<OpenSide> {
  if (side.engine === "sqlite") return openOfficialSqlite(place as string);
  if (side.engine === "postgres") return openOfficialPostgres(place as string);
  return openOfficialMemory();
}

async function openOfficialSqlite(path: string): Promise<OpenSide> {
  const { SqliteSaver }: SqliteModule = await load("@langchain/langgraph-checkpoint-sqlite");
  const saver = SqliteSaver.fromConnString(path);
  keepAlive(saver.db);
  const calls = countCalls(saver);
  return {
    saver,
    // As the package comes it doesn't wait for the disk; then none of its commits is durable.
    durableCommits: () => (synchronousOf(saver.db) >= FULL ? calls() : 0),
    close: async () => saver.db.close(),
  };
}

async function openOfficialPostgres(url: string): Promise<OpenSide> {
  const { PostgresSaver }: PostgresModule = await load("@langchain/langgraph-checkpoint-postgres");
  const saver = PostgresSaver.fromConnString(url);
  await saver.setup();
  return { saver, durableCommits: countCalls(saver), close: () => saver.end() };
}

async function openOfficialMemory(): Promise<OpenSide> {
  const { MemorySaver } = await import("@langchain/langgraph-checkpoint");
  return { saver: new MemorySaver(), durableCommits: () => 0, close: async () => undefined };
}

const alive: object[] = [];

/**
 * Since Node 24.19 the process aborts when a statement or database of better-sqlite3 12 is garbage collected, and the
 * saver prepares new statements in every call. Here none is ever collected.
 */
function keepAlive(db: SqliteHandle): void {
  const prepare = db.prepare.bind(db);
  alive.push(db);
  db.prepare = (sql) => {
    const statement = prepare(sql);
    alive.push(statement);
    return statement;
  };
  db.pragma = (source) => db.prepare(`pragma ${source}`).all();
}

function synchronousOf(db: SqliteHandle): number {
  const [row] = db.pragma("synchronous") as { synchronous: number }[];
  return row?.synchronous ?? 0;
}

/** Each call of `put` and of `putWrites` is one transaction of its own in both packages. */
function countCalls(saver: BaseCheckpointSaver): () => number {
  let calls = 0;
  for (const name of ["put", "putWrites"] as const) {
    const method = saver[name].bind(saver) as (...args: unknown[]) => unknown;
    Object.assign(saver, {
      [name]: (...args: unknown[]) => {
        calls++;
        return method(...args);
      },
    });
  }
  return () => calls;
}

/** The name in a variable: the workspace has no such package, and its type checker would look for one. */
function load<T>(name: string): Promise<T> {
  return import(name) as Promise<T>;
}
