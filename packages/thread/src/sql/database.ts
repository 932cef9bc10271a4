import type { Compilable, Kysely } from "kysely";
import type { Dialect } from "./dialect.ts";
import type { QueryResult, Statement, Tx } from "./statement.ts";
import type { Tables } from "./tables.ts";
import type { WakeUps } from "./wake-ups.ts";

/** One open database. Everything above this port is the same code for every engine. */
export interface Database {
  readonly dialect: Dialect;
  /** Builds queries; it never runs them. */
  readonly q: Kysely<Tables>;
  /** It works in a process of its own, while this one goes on. */
  readonly isElsewhere: boolean;
  /** Between the processes on this database; ends with it. */
  readonly wakeUps: WakeUps;

  /**
   * Runs the body in one transaction and resolves once it is durable. A throw undoes all of it. Who writes again and again
   * gives his name: several of them at once may wait for each other, to share a commit; one alone need not.
   */
  transaction<T>(body: () => Tx<T>, writer?: string): Promise<T>;

  /**
   * As `transaction`, for statements known beforehand: one round trip on PostgreSQL, commit included. `confirm` is called
   * before the commit, at most once for each attempt, where the database is elsewhere while it is at work; its throw undoes all of it.
   */
  atomic(statements: readonly Statement[], writer?: string, confirm?: () => void): Promise<readonly QueryResult[]>;

  /**
   * Reads committed rows; sees every write this process was told of. With a scope (as text) the database itself keeps
   * rows of others from it, where it can: PostgreSQL does, whatever the query says.
   */
  read<R>(query: Compilable<R>, scope?: string): Promise<R[]>;

  /** Several reads of one snapshot in one round trip. */
  readAll(statements: readonly Statement[], scope?: string): Promise<readonly QueryResult[]>;

  /** Whether it can: undefined for an engine that knows no rows of others. */
  hasWall(): Promise<boolean | undefined>;

  /** Throws where a write would be lost, because the database's file is no longer in its place. Every commit asks. */
  requireInPlace(): void;

  /** Bytes the database takes on disk (in memory, for an in-memory one). */
  size(): Promise<number>;

  /** Waits for what was accepted, then lets go of every file and connection. Later calls reject with `storage_closed`. */
  close(): Promise<void>;
}

/** Where a test may stop the process: told before, inside and after each write transaction. */
export type Failpoint = (point: "begin" | "statement" | "commit" | "committed", sql?: string) => void;
