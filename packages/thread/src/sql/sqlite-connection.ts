import { dirname } from "node:path";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { requireBindable } from "./bindable.ts";
import { storageError } from "./errors.ts";
import { holdOpen, requireOwnLog } from "./foreign-log.ts";
import { makeFolders } from "./make-folders.ts";
import { makePrivateFile } from "./private-file.ts";
import { SqliteFile } from "./sqlite-file.ts";
import type { QueryResult, SqlValue, Statement } from "./statement.ts";

/**
 * SQLite itself would sleep on the thread while it waits for another process, and heartbeats with it. So it waits
 * hardly at all, and the commit queue asks again from a timer.
 */
const BLOCKING_WAIT_MS = 2;
/** Changing the journal mode takes the file's lock, which another process that is just opening it may hold. */
const OPENING_WAIT_MS = 5_000;
/**
 * The log is written over from its beginning after each checkpoint (every 4 MB). Cut down below that, it would have to
 * grow again, and a commit that makes its file longer took 1.5 times as long; only what a long reader held up is cut off.
 */
const WAL_KEPT_BYTES = 16 * 2 ** 20;
/** Dynamic queries (filters, lists) are few in shape; this bound only keeps a pathological caller from growing memory. */
const STATEMENTS_KEPT = 500;

interface Prepared {
  statement: StatementSync;
  reads: boolean;
}

/** The one connection to a file. Its statements are prepared once. */
export class SqliteConnection {
  readonly path: string;
  readonly #db: DatabaseSync;
  readonly #file: SqliteFile;
  readonly #letGo: () => void;
  readonly #prepared = new Map<string, Prepared>();

  constructor(path: string) {
    this.path = path;
    this.#db = openFile(path);
    this.#letGo = holdOpen(path);
    this.#file = new SqliteFile(path);
  }

  run({ sql, params, requireRow }: Statement): QueryResult {
    requireBindable(params);
    const { statement, reads } = this.#prepare(sql);
    let result: QueryResult;
    if (reads) {
      const rows = statement.all(...params) as Record<string, SqlValue>[];
      result = { rows, changes: rows.length };
    } else {
      result = { rows: [], changes: Number(statement.run(...params).changes) };
    }
    if (requireRow && result.changes !== 1) throw requireRow();
    return result;
  }

  /** As of one moment: without a transaction around them, another process may commit between two of them. */
  readTogether(statements: readonly Statement[]): QueryResult[] {
    if (statements.length > 1) this.command("begin");
    try {
      return statements.map((one) => this.run(one));
    } finally {
      if (this.isInTransaction) this.command("commit");
    }
  }

  /** One of the few that bracket every transaction. */
  command(sql: string): void {
    this.#prepare(sql).statement.run();
  }

  /** Throws if what is written would be lost: the file is no longer the one under this path. */
  requireInPlace(): void {
    this.#file.requireInPlace();
  }

  commit(): void {
    this.requireInPlace();
    this.command("commit");
  }

  exec(sql: string): void {
    this.#db.exec(sql);
  }

  get isInTransaction(): boolean {
    return this.#db.isTransaction;
  }

  /** SQLite's own errors as ours; any other as it is. */
  toStorageError(error: unknown): unknown {
    const { code } = error as { code?: string };
    return code === "ERR_SQLITE_ERROR" ? storageError(error, `SQLite database ${this.path}`) : error;
  }

  close(): void {
    this.#db.close();
    this.#letGo();
  }

  #prepare(sql: string): Prepared {
    let known = this.#prepared.get(sql);
    if (known) return known;
    const statement = this.#db.prepare(sql);
    known = { statement, reads: statement.columns().length > 0 };
    if (this.#prepared.size >= STATEMENTS_KEPT) this.#prepared.delete(this.#prepared.keys().next().value as string);
    this.#prepared.set(sql, known);
    return known;
  }
}

function openFile(path: string): DatabaseSync {
  let db: DatabaseSync | undefined;
  try {
    if (path !== ":memory:") {
      makeFolders(dirname(path));
      makePrivateFile(path);
      requireOwnLog(path);
    }
    db = new DatabaseSync(path);
    db.exec(`pragma busy_timeout = ${OPENING_WAIT_MS}; pragma journal_mode = wal`);
    // FULL: a commit that was acknowledged survives a power cut, not only a crash of the process.
    db.exec(`pragma busy_timeout = ${BLOCKING_WAIT_MS}; pragma synchronous = full; pragma foreign_keys = on`);
    // What the savepoints of one transaction would take back is kept in memory, not written into a file beside the log.
    db.exec(`pragma journal_size_limit = ${WAL_KEPT_BYTES}; pragma temp_store = memory`);
    return db;
  } catch (error) {
    db?.close();
    throw storageError(error, `SQLite database ${path} can't be opened`);
  }
}
