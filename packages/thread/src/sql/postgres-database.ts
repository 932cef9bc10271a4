import { AppError } from "@cognition/contract";
import type { Compilable } from "kysely";
import type pg from "pg";
import type { Database, Failpoint } from "./database.ts";
import { placeholders, postgresDialect } from "./dialect.ts";
import { isRetryable, isStalePlan, storageError } from "./errors.ts";
import {
  type ConnectionOptions,
  fly,
  flyIfConfirmed,
  PostgresConnections,
  type Query,
  withText,
} from "./postgres-connections.ts";
import { createPostgresWakeUps, SEND_NOTICES } from "./postgres-wake-ups.ts";
import { createPostgresWall } from "./postgres-wall.ts";
import { type QueryResult, type Statement, statement, type Tx } from "./statement.ts";

export interface PostgresOptions extends ConnectionOptions {
  failpoint?: Failpoint;
}

const ATTEMPTS = 5;
/** Raised by `cognition_require`, which the first migration makes. */
const REQUIREMENT_FAILED = "CG001";
const SNAPSHOT = "begin transaction isolation level repeatable read read only";

/** Statements of one flight travel together, so a batch costs one round trip. */
export function openPostgres({ failpoint, ...options }: PostgresOptions): Database {
  const connections = new PostgresConnections(options);
  const transactions = new PostgresTransactions(connections, failpoint);

  async function retrying<T>(attempt: () => Promise<T>): Promise<T> {
    const again = createRetries(connections.most);
    for (;;) {
      try {
        return await attempt();
      } catch (error) {
        if (again(error)) continue;
        throw isDriverError(error) ? storageError(error, connections.where) : error;
      }
    }
  }

  function fetchAll(opening: readonly Query[], queries: readonly Query[]): Promise<QueryResult[]> {
    return retrying(() =>
      connections.use(async (client) => {
        if (opening.length === 0 && queries.length === 1) return fly(client, queries);
        return (await fly(client, [SNAPSHOT, ...opening, ...queries, "commit"])).slice(1 + opening.length, -1);
      }),
    );
  }

  async function readAll(statements: readonly Statement[], scope?: string): Promise<QueryResult[]> {
    const opening = scope === undefined ? [] : await wall.enter(scope);
    // A statement prepared for two roles would be planned anew at every change of role.
    const queries = statements.map((one) => connections.query(opening.length > 0 ? { ...one, prepare: false } : one));
    return fetchAll(opening, queries);
  }

  const wall = createPostgresWall((statements) =>
    fetchAll(
      [],
      statements.map((one) => connections.query(one)),
    ),
  );
  const send = (notices: string) => readAll([{ sql: SEND_NOTICES, params: [notices] }]);
  const wakeUps = createPostgresWakeUps({ url: options.url, send });

  return {
    dialect: postgresDialect,
    q: postgresDialect.queries(),
    isElsewhere: true,
    wakeUps,
    transaction: (body) => retrying(() => transactions.run(body)),
    atomic: (statements, _writer, confirm) => retrying(() => transactions.runAtomic(statements, confirm)),
    read: async <R>(query: Compilable<R>, scope?: string) => (await readAll([statement(query)], scope))[0]?.rows as R[],
    readAll,
    requireInPlace: () => undefined,
    hasWall: async () => (await wall.which()) !== "none",
    size: async () => Number((await readAll([{ sql: SIZE, params: [] }]))[0]?.rows[0]?.bytes),
    close: async () => {
      await Promise.all([wakeUps.close(), connections.close()]);
    },
  };
}

/** Whether to try again what has failed. Of a stale plan each time with another connection, of which all may have to go. */
function createRetries(connections: number): (error: unknown) => boolean {
  let attempts = 1;
  let stale = 0;
  return (error) => (isStalePlan(error) ? stale++ < connections : isRetryable(error) && attempts++ < ATTEMPTS);
}

class PostgresTransactions {
  readonly #connections: PostgresConnections;
  readonly #failpoint: Failpoint | undefined;

  constructor(connections: PostgresConnections, failpoint: Failpoint | undefined) {
    this.#connections = connections;
    this.#failpoint = failpoint;
  }

  /** All in one flight, from begin to commit; one statement alone, with nothing to confirm, is a transaction by itself. */
  async runAtomic(statements: readonly Statement[], confirm?: () => void): Promise<QueryResult[]> {
    return this.#connections.use(async (client) => {
      this.#failpoint?.("begin");
      const queries = statements.map((one, index) => this.#requiring(one, index));
      this.#failpoint?.("commit");
      try {
        const answers = await this.#fly(client, queries, confirm);
        this.#failpoint?.("committed");
        return answers;
      } catch (error) {
        // The commit of a failed transaction is a rollback, so the connection is clean again.
        const { code, message } = error as { code?: string; message: string };
        if (code === REQUIREMENT_FAILED) throw statements[Number(message)]?.requireRow?.();
        throw error;
      }
    });
  }

  async #fly(client: pg.PoolClient, queries: readonly Query[], confirm: (() => void) | undefined) {
    if (confirm) return flyIfConfirmed(client, queries, confirm);
    if (queries.length === 1) return fly(client, queries);
    return (await fly(client, ["begin", ...queries, "commit"])).slice(1, -1);
  }

  /** A flight for each step of the body; the first takes the `begin` along. */
  async run<T>(body: () => Tx<T>): Promise<T> {
    return this.#connections.use(async (client) => {
      const steps = body();
      this.#failpoint?.("begin");
      let opening: string[] = ["begin"];
      try {
        let step = steps.next();
        while (!step.done) {
          const answers = await this.#step(client, step.value, opening);
          opening = [];
          step = steps.next(answers);
        }
        this.#failpoint?.("commit");
        if (opening.length === 0) await client.query("commit");
        this.#failpoint?.("committed");
        return step.value;
      } catch (error) {
        await client.query("rollback").catch(() => undefined); // the connection is gone, and the transaction with it
        throw error;
      }
    });
  }

  async #step(client: pg.PoolClient, wanted: readonly Statement[], opening: string[]): Promise<QueryResult[]> {
    const queries = wanted.map((one) => {
      this.#tell(one);
      return this.#connections.query(one);
    });
    const answers = await fly(client, [...opening, ...queries], ({ changes }, index) => {
      const requireRow = wanted[index - opening.length]?.requireRow;
      if (requireRow && changes !== 1) throw requireRow();
    });
    return answers.slice(opening.length);
  }

  /**
   * In a flight nobody looks at a result before the next statement runs, so the server itself must stop:
   * `cognition_require` raises unless there is exactly one row.
   */
  #requiring(one: Statement, index: number) {
    this.#tell(one);
    if (!one.requireRow) return this.#connections.query(one);
    const members = [...(one.with ?? []), `required as (${one.sql})`];
    const required = `select required.*, cognition_require((select count(*) from required) = 1, $${one.params.length + 1})
      from (select 1) always left join required on true`;
    const text = placeholders(postgresDialect, withText(members, required));
    return this.#connections.query(one, text, [...one.params, String(index)]);
  }

  #tell(one: Statement): void {
    if (!this.#failpoint) return;
    for (const change of one.with ?? []) this.#failpoint("statement", change);
    this.#failpoint("statement", one.sql);
  }
}

/** Only what is ours: the same database may hold other schemas. */
const SIZE = `select coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint as bytes
  from pg_class c where c.relkind = 'r' and c.relnamespace = current_schema()::regnamespace`;

function isDriverError(error: unknown): boolean {
  return (
    !(error instanceof AppError) && error instanceof Error && ("code" in error || /connection/i.test(error.message))
  );
}
