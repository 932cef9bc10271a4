import type { Compilable } from "kysely";
import type { Database } from "./database.ts";
import type { Dialect } from "./dialect.ts";
import type { SqlValue, Statement } from "./statement.ts";

/** Stands in a query for the value that each call brings. */
class Gap {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

interface Compiled {
  readonly sql: string;
  readonly params: readonly (Gap | SqlValue)[];
}

/**
 * A query whose text never varies: built and compiled once for a dialect, which takes longer than SQLite takes to run
 * most of them. What varies is named, and may only stand where a value can: `build` sees stand-ins, never values.
 */
export function fixedQuery<V extends object>(
  build: (db: Pick<Database, "q" | "dialect">, values: V) => Compilable,
): (db: Pick<Database, "q" | "dialect">, values: V) => Statement {
  const compiled = new WeakMap<Dialect, Compiled>();

  function compile(db: Pick<Database, "q" | "dialect">): Compiled {
    const gaps = new Proxy({}, { get: (_, name) => new Gap(String(name)) }) as V;
    const { sql, parameters } = build(db, gaps).compile();
    const known = { sql, params: parameters as Compiled["params"] };
    compiled.set(db.dialect, known);
    return known;
  }

  return (db, values) => {
    const { sql, params } = compiled.get(db.dialect) ?? compile(db);
    const bound = params.map((param) => (param instanceof Gap ? values[param.name as keyof V] : param) as SqlValue);
    return { sql, params: bound, prepare: true };
  };
}
