import { randomUUID } from "node:crypto";
import type { Writable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { AppError } from "@cognition/contract";
import pg from "pg";
import { requireBindable } from "./bindable.ts";
import { placeholders, postgresDialect } from "./dialect.ts";
import { isReadOnly, isStalePlan, storageError, wasEndedIdle } from "./errors.ts";
import { requireOwnConnections } from "./own-connections.ts";
import { createSilentConnections, type SilentConnections } from "./silent-connections.ts";
import type { QueryResult, SqlValue, Statement } from "./statement.ts";

export interface ConnectionOptions {
  /** `postgresql://…`, already normalised. */
  url: string;
  poolMin?: number;
  poolMax?: number;
  connectTimeoutMs?: number;
  /** See `createSilentConnections`. */
  quietMs?: number;
}

/** A process stopped (SIGSTOP, a dead network) inside a transaction would hold its row locks, and so its threads, for ever. */
const IDLE_IN_TRANSACTION_MS = 2_000;
const CONNECT_TIMEOUT_MS = 10_000;
const POOL_MAX = 10;
/**
 * Who waited for a lock reads what is there then. By another isolation, which a database or a user may have for its default, he
 * would read what was there before, or be refused: of writers that meet, most failed.
 */
const READ_COMMITTED = "set default_transaction_isolation = 'read committed'";
/**
 * What was told to be kept is on the disk. Where it is switched off, for a server, a database or a user, a commit is answered before
 * that, and a crash takes the last ones; what waits for more than our own disk stays as it is.
 */
const KEPT_AT_COMMIT =
  "select set_config('synchronous_commit', 'on', false) where current_setting('synchronous_commit') = 'off'";
/** Not as parameters of the connection's start: poolers refuse those that they don't know. */
const SETTINGS = `${READ_COMMITTED}; set idle_in_transaction_session_timeout = ${IDLE_IN_TRANSACTION_MS}; ${KEPT_AT_COMMIT}`;
const INT8_OID = 20;
const TOO_MANY_CONNECTIONS = "53300";
const ASK_AGAIN_MS = 25;
/** What the pool says to who has waited for one of its connections; to a server that does not answer it says another thing. */
const NONE_FREE = "timeout exceeded when trying to connect";

/** A statement ready to be sent, or a bare command such as "begin". */
export type Query = string | pg.QueryConfig;

/** A pool whose connections take many statements in one flight. Connects lazily. */
export class PostgresConnections {
  /** For messages: never with the password. */
  readonly where: string;
  /** How many there may be. */
  readonly most: number;
  readonly #pool: pg.Pool;
  readonly #silent: SilentConnections;
  readonly #waitMs: number;
  readonly #names = new Map<string, string>();
  readonly #inUse = new Set<Promise<unknown>>();
  #closing: Promise<void> | undefined;
  readonly #url: string;
  #looked: Promise<void> | undefined;

  constructor(options: ConnectionOptions) {
    const { url, poolMin = 1, poolMax = POOL_MAX, connectTimeoutMs = CONNECT_TIMEOUT_MS, ...rest } = options;
    this.#url = url;
    this.where = `PostgreSQL at ${describeUrl(url)}`;
    this.most = poolMax;
    this.#waitMs = connectTimeoutMs;
    this.#pool = new pg.Pool({
      connectionString: url,
      min: poolMin,
      max: poolMax,
      connectionTimeoutMillis: connectTimeoutMs,
      application_name: "cognition",
      keepAlive: true,
      pipeline: true,
      types: { getTypeParser },
    } as pg.PoolConfig);
    // An idle connection that the server closed is replaced at the next use; without a listener it would end the process.
    this.#pool.on("error", () => undefined);
    // So would a word that still comes over one that is being thrown away: nobody asks for it any more.
    this.#pool.on("connect", (client) => client.on("error", () => undefined));
    this.#silent = createSilentConnections({ url, answerWithinMs: connectTimeoutMs, ...rest });
    this.#pool.on("connect", this.#silent.opened);
    // Ahead of whatever its user asks; if it fails, the connection is gone, and its user is told.
    this.#pool.on("connect", (client) => client.query(SETTINGS).catch(() => undefined));
  }

  /** A connection that was lost on the way is thrown away afterwards. */
  async use<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    if (this.#closing) throw new AppError("storage_closed", `The storage on ${this.where} was closed`);
    const using = this.#use(work);
    this.#inUse.add(using);
    try {
      return await using;
    } finally {
      this.#inUse.delete(using);
    }
  }

  async #use<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    const client = await this.#connect();
    let broken: Error | undefined;
    const onError = (error: Error) => {
      broken ??= error;
    };
    client.on("error", onError);
    let left: (() => void) | undefined;
    try {
      await this.#lookAt(client);
      left = this.#silent.waits(client);
      return await work(client);
    } catch (error) {
      if (error instanceof AppError) throw error;
      // The server said why it closed the connection; the driver then only says that it can't be used.
      if (wasEndedIdle(broken)) throw broken;
      if (!isAnswer(error)) broken = error as Error;
      throw error;
    } finally {
      left?.();
      client.removeListener("error", onError);
      client.release(broken);
    }
  }

  /** Once; and again where that has failed. Who waits for it meanwhile has asked his own connection nothing. */
  #lookAt(client: pg.PoolClient): Promise<void> {
    if (this.#looked) return this.#looked;
    const left = this.#silent.waits(client);
    this.#looked = requireOwnConnections(client, this.#url, this.where).finally(left);
    this.#looked.catch(() => {
      this.#looked = undefined;
    });
    return this.#looked;
  }

  /** With a text of its own for the statement, its parameters may differ too. */
  query({ prepare, ...statement }: Statement, text?: string, params: readonly SqlValue[] = statement.params): Query {
    requireBindable(params);
    const sql = text ?? placeholders(postgresDialect, withText(statement.with, statement.sql));
    const values = statement.with || isInsert(statement.sql) ? params : params.map(findable);
    const config: pg.QueryConfig = { text: sql, values: values as SqlValue[] };
    return prepare ? { ...config, name: this.#nameOf(sql) } : config;
  }

  async close(): Promise<void> {
    this.#closing ??= this.#end();
    await this.#closing;
  }

  /** A pool that is ended never again answers those who wait for one of its connections. */
  async #end(): Promise<void> {
    await Promise.allSettled(this.#inUse);
    await this.#pool.end().finally(this.#silent.close);
  }

  async #connect(): Promise<pg.PoolClient> {
    const deadline = performance.now() + this.#waitMs;
    for (;;) {
      try {
        return await this.#pool.connect();
      } catch (error) {
        if (!this.#mayWait(error, deadline)) throw this.#explain(error as Error);
        await delay(ASK_AGAIN_MS);
      }
    }
  }

  /** A server that lets in fewer than the pool would hold is no reason to fail while one of ours may become free. */
  #mayWait(error: unknown, deadline: number): boolean {
    const { code } = error as { code?: string };
    return code === TOO_MANY_CONNECTIONS && this.#pool.totalCount > 0 && performance.now() < deadline;
  }

  #explain(error: Error): AppError {
    if (error.message !== NONE_FREE) return storageError(error, `${this.where} can't be reached`);
    const message =
      `${this.where}: all ${this.#pool.totalCount} connections of the pool were in use for ${this.#waitMs} ms, and nothing was done. ` +
      "Try again, allow more of them (pool.max), or wait longer (pool.wait_ms)";
    return new AppError("storage_unavailable", message, { cause: error });
  }

  #nameOf(sql: string): string {
    let name = this.#names.get(sql);
    if (name === undefined) {
      name = `cognition_${this.#names.size}`;
      this.#names.set(sql, name);
    }
    return name;
  }
}

/** Equal to nothing that is stored. */
const NOWHERE = `nowhere ${randomUUID()}`;

/**
 * PostgreSQL's texts can't hold a U+0000, so no row is named by a text that does; the server would call the question
 * itself an error. What is to be stored is left to it (`isInsert`), and what changes a row was looked at before.
 */
function findable(param: SqlValue): SqlValue {
  return typeof param === "string" && param.includes("\0") ? NOWHERE : param;
}

export function withText(members: readonly string[] | undefined, sql: string): string {
  return members ? `with ${members.join(", ")} ${sql}` : sql;
}

function isInsert(sql: string): boolean {
  return /^\s*insert\b/i.test(sql);
}

/** Throws for an answer that what came after it must not have been done with. */
type Check = (answer: QueryResult, index: number) => void;

/** Sends everything at once, then waits for every answer. */
export function fly(client: pg.PoolClient, queries: readonly Query[], check?: Check): Promise<QueryResult[]> {
  return answersTo(send(client, queries), check);
}

/**
 * Begins, does as the queries say, and commits if `confirm`, which is called while the server is at work, does not throw.
 * Still one flight: nobody waits for an answer before the commit.
 */
export async function flyIfConfirmed(
  client: pg.PoolClient,
  queries: readonly Query[],
  confirm: () => void,
): Promise<QueryResult[]> {
  const sent = send(client, ["begin", ...queries]);
  try {
    confirm();
  } catch (error) {
    await Promise.allSettled([...sent, ...send(client, ["rollback"])]); // a connection that is lost has done it by itself
    throw error;
  }
  return (await answersTo([...sent, ...send(client, ["commit"])])).slice(1, -1);
}

function send(client: pg.PoolClient, queries: readonly Query[]): Promise<pg.QueryResult>[] {
  return inOnePacket(client, () => queries.map((query) => client.query(query)));
}

/** The first failure, or refusal, is the cause of the later ones. */
async function answersTo(sent: readonly Promise<pg.QueryResult>[], check?: Check): Promise<QueryResult[]> {
  const answers = await Promise.allSettled(sent);
  return answers.map((answer, index) => {
    if (answer.status === "rejected") throw answer.reason;
    const result = toResult(answer.value);
    check?.(result, index);
    return result;
  });
}

/**
 * Holds back what the driver writes until all of a flight is written: a system call for each query, and a server that
 * wakes up for each, took longer than the queries.
 */
function inOnePacket<T>(client: pg.PoolClient, write: () => T): T {
  const { stream } = (client as unknown as { connection: { stream: Writable } }).connection;
  stream.cork();
  try {
    return write();
  } finally {
    stream.uncork();
  }
}

function toResult(answer: pg.QueryResult): QueryResult {
  return { rows: answer.rows, changes: answer.rowCount ?? 0 };
}

/** The server answered with an error: the connection is still good. Anything else leaves it in doubt, or of no more use. */
function isAnswer(error: unknown): boolean {
  if (!(error instanceof pg.DatabaseError) || wasEndedIdle(error)) return false;
  if (isStalePlan(error) || isReadOnly(error)) return false;
  return !error.code?.startsWith("57P") && !error.code?.startsWith("08");
}

function getTypeParser(oid: number, format?: "text" | "binary") {
  if (oid === INT8_OID && format !== "binary") return toSafeNumber;
  return pg.types.getTypeParser(oid, format as "text");
}

function toSafeNumber(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new AppError("corrupt_data", `A counter is beyond 2^53: ${text}`);
  return value;
}

/** For messages: never with the password. */
export function describeUrl(url: string): string {
  try {
    const { hostname, port, pathname } = new URL(url);
    return `${hostname || "local socket"}${port ? `:${port}` : ""}${pathname}`;
  } catch {
    return "an unreadable URL";
  }
}
