import { statSync } from "node:fs";
import { AppError } from "@cognition/contract";
import type { Compilable } from "kysely";
import { CommitQueue } from "./commit-queue.ts";
import type { Database, Failpoint } from "./database.ts";
import { sqliteDialect } from "./dialect.ts";
import { SqliteConnection } from "./sqlite-connection.ts";
import { createSqliteWakeUps } from "./sqlite-wake-ups.ts";
import { type QueryResult, type Statement, statement, type Tx } from "./statement.ts";
import { noWakeUps } from "./wake-ups.ts";

export interface SqliteOptions {
  /** An absolute path, or ":memory:". */
  path: string;
  /** How long a write waits for another process that is writing, before `storage_busy`. */
  busyTimeoutMs?: number;
  failpoint?: Failpoint;
}

const BUSY_TIMEOUT_MS = 10_000;
const PAGES = "select page_count * page_size as bytes from pragma_page_count, pragma_page_size";

/** Opens the file, making its folders. */
export function openSqlite({ path, busyTimeoutMs = BUSY_TIMEOUT_MS, failpoint }: SqliteOptions): Database {
  const connection = new SqliteConnection(path);
  const queue = new CommitQueue(connection, { busyTimeoutMs, failpoint });
  const inMemory = path === ":memory:";
  let closed = false;

  function refuseIfClosed(): void {
    if (closed) throw new AppError("storage_closed", `The storage on ${path} was closed`);
  }

  function readNow(statements: readonly Statement[]): QueryResult[] {
    refuseIfClosed();
    try {
      return connection.readTogether(statements);
    } catch (error) {
      throw connection.toStorageError(error);
    }
  }

  async function readAll(statements: readonly Statement[]): Promise<QueryResult[]> {
    await queue.giveWay();
    return readNow(statements);
  }

  async function transaction<T>(body: () => Tx<T>, writer?: string): Promise<T> {
    refuseIfClosed();
    return queue.add(body, writer);
  }

  const dataVersion = () => Number(readNow([{ sql: "pragma data_version", params: [] }])[0]?.rows[0]?.data_version);
  const wakeUps = inMemory ? noWakeUps : createSqliteWakeUps(dataVersion);

  return {
    dialect: sqliteDialect,
    q: sqliteDialect.queries(),
    isElsewhere: false,
    wakeUps,
    transaction,
    atomic: (statements, writer, confirm) =>
      transaction(function* (): Tx<readonly QueryResult[]> {
        const results = yield statements;
        confirm?.();
        return results;
      }, writer),
    read: async <R>(query: Compilable<R>) => (await readAll([statement(query)]))[0]?.rows as R[],
    readAll,
    requireInPlace: () => connection.requireInPlace(),
    hasWall: async () => undefined,
    size: async () => {
      refuseIfClosed();
      if (!inMemory) return fileSize(path) + fileSize(`${path}-wal`);
      return Number(readNow([{ sql: PAGES, params: [] }])[0]?.rows[0]?.bytes);
    },
    close: async () => {
      if (closed) return;
      closed = true;
      await wakeUps.close();
      await queue.drain();
      connection.close();
    },
  };
}

function fileSize(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
