import {
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from "kysely";
import type { SqlValue, Statement } from "./statement.ts";
import type { Tables } from "./tables.ts";

/** Every difference between the engines. Nothing outside this file and the two `*-database.ts` asks which one it is. */
export interface Dialect {
  readonly name: "sqlite" | "postgres";
  /** Column types. */
  readonly bytes: string;
  readonly bigint: string;
  /** Text compared byte by byte, so that ranges over it mean the same everywhere. */
  readonly text: string;
  readonly serial: string;
  /** Rows live in their primary key, in its order: reading a run of neighbours is one sequential scan. */
  readonly clustered: string;
  /** Milliseconds since 1970 by the database's own clock: leases of many nodes are measured by one clock. */
  readonly nowMs: string;
  /** Appended to a select inside a claim: rows that another node is claiming are passed over, not waited for. */
  readonly skipLocked: string;
  /** Appended to a select whose rows the transaction will change. */
  readonly lockRows: string;
  /** Appended to a select: the row is held as an update of it would, and rows that refer to it may still be made. */
  readonly holdRow: string;
  /**
   * Appended to a change that must find its row (`requireRow`): SQLite says how many rows it has changed, and giving them
   * back takes it a table of its own; PostgreSQL has to give one back.
   */
  returning(column: string): string;
  /** SQL that is true when the JSON object in `column` has the string member (key, value), both parameters. */
  hasMember(column: string): string;
  /** SQL that is true when a message's content in `column`, a JSON string or an array of blocks, has any words. */
  hasWords(column: string): string;
  /** SQL that gives the members of a JSON array parameter as rows of one column `value`. */
  readonly eachText: string;
  readonly eachNumber: string;
  /** The column of JSON kept as bytes, in the form that is cheapest to read: bytes or text. */
  jsonBytes(column: string): string;
  /** One statement may change several tables, in its WITH clause. */
  readonly changesInWith: boolean;
  queries(): Kysely<Tables>;
}

export const sqliteDialect: Dialect = {
  name: "sqlite",
  bytes: "blob",
  bigint: "integer",
  text: "text",
  serial: "integer primary key autoincrement",
  clustered: " without rowid",
  nowMs: "cast(unixepoch('subsec') * 1000 as integer)",
  skipLocked: "",
  lockRows: "",
  // A write transaction is alone from its beginning.
  holdRow: "",
  returning: () => "",
  hasMember: (column) => `exists (select 1 from json_each(${column}) member where member.key = ? and member.value = ?)`,
  hasWords: (column) => `case when json_type(${column}) = 'array' then exists (select 1 from json_each(${column}) block
    where json_type(block.value, '$.text') = 'text' and json_extract(block.value, '$.text') <> '') else ${column} <> '""' end`,
  eachText: "select value from json_each(?)",
  eachNumber: "select value from json_each(?)",
  jsonBytes: (column) => column,
  changesInWith: false,
  queries: () =>
    new Kysely<Tables>({
      dialect: {
        createAdapter: () => new SqliteAdapter(),
        createDriver: () => new DummyDriver(),
        createIntrospector: (db) => new SqliteIntrospector(db),
        createQueryCompiler: () => new SqliteQueryCompiler(),
      },
    }),
};

export const postgresDialect: Dialect = {
  name: "postgres",
  bytes: "bytea",
  bigint: "bigint",
  text: 'text collate "C"',
  serial: "bigint generated always as identity primary key",
  clustered: "",
  nowMs: "(extract(epoch from clock_timestamp()) * 1000)::bigint",
  skipLocked: " for update skip locked",
  lockRows: " for update",
  holdRow: " for no key update",
  returning: (column) => ` returning ${column}`,
  hasMember: (column) => `(${column}::jsonb ->> ?::text) = ?::text`,
  // Without its escapes: U+0000 and half a surrogate pair are valid in JSON, and PostgreSQL refuses to look into it.
  hasWords: (column) => `case when left(${column}, 1) = '[' then exists (select 1
    from json_array_elements(regexp_replace(${column}, '\\\\(u[0-9a-fA-F]{4}|.)', '_', 'g')::json) block
    where (block.value -> 'text')::text like '"_%"') else ${column} <> '""' end`,
  eachText: "select value from jsonb_array_elements_text(?::jsonb) each(value)",
  eachNumber: "select value::bigint as value from jsonb_array_elements_text(?::jsonb) each(value)",
  // Bytes travel as hexadecimal digits; as text they are half as long, and nobody has to decode them.
  jsonBytes: (column) => `convert_from(${column}, 'UTF8')`,
  changesInWith: true,
  queries: () =>
    new Kysely<Tables>({
      dialect: {
        createAdapter: () => new PostgresAdapter(),
        createDriver: () => new DummyDriver(),
        createIntrospector: (db) => new PostgresIntrospector(db),
        createQueryCompiler: () => new PostgresQueryCompiler(),
      },
    }),
};

const numbered = new Map<string, string>();

/** Statements are written with `?`; PostgreSQL wants `$1`, `$2` … (no statement of ours has a `?` of another meaning). */
export function placeholders(dialect: Dialect, sql: string): string {
  if (dialect.name === "sqlite") return sql;
  let known = numbered.get(sql);
  if (known === undefined) {
    let n = 0;
    known = sql.replace(/\?/g, () => `$${++n}`);
    numbered.set(sql, known);
  }
  return known;
}

/** A text that is made once for each dialect: the same string each time, which is found again by what it is, not by what it says. */
export function perDialect(make: (dialect: Dialect) => string): (dialect: Dialect) => string {
  const texts = new Map<Dialect, string>();
  return (dialect) => {
    let text = texts.get(dialect);
    if (text === undefined) {
      text = make(dialect);
      texts.set(dialect, text);
    }
    return text;
  };
}

/** One that is written out, with `?` in the place of each value. */
export function prepared(dialect: Dialect, sql: string, params: SqlValue[]): Statement {
  return { sql: placeholders(dialect, sql), params, prepare: true };
}
