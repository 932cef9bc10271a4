import { type Dialect, placeholders } from "./dialect.ts";

/** The rest goes in one of its own size: so there are few texts to prepare, and few statements. */
const PORTIONS = [256, 64, 16];

/** Splits rows into as many as one insert takes. */
export function* inPortions<T>(rows: readonly T[]): Generator<readonly T[]> {
  for (let at = 0; at < rows.length; ) {
    const left = rows.length - at;
    const size = PORTIONS.find((portion) => portion <= left) ?? left;
    yield size === rows.length ? rows : rows.slice(at, at + size);
    at += size;
  }
}

/** The text of a statement for each number of rows: made once for an engine, as the same string each time. */
export function textByRows(make: (dialect: Dialect, rows: number) => string): typeof make {
  const texts = new WeakMap<Dialect, string[]>();
  return (dialect, rows) => {
    const known = texts.get(dialect) ?? [];
    if (known.length === 0) texts.set(dialect, known);
    known[rows] ??= placeholders(dialect, make(dialect, rows));
    return known[rows];
  };
}

type ColumnType = "bigint" | "bytes" | "text";

/**
 * `count` rows of parameters as a table with columns `column1`, `column2` … PostgreSQL can't know the type of a bare
 * parameter; the first row tells it that of the others.
 */
export function valuesTable(dialect: Dialect, count: number, types: readonly ColumnType[]): string {
  const first = types.map((type) => `cast(? as ${type === "text" ? "text" : dialect[type]})`).join(", ");
  const others = `, (${types.map(() => "?").join(", ")})`;
  return `(values (${first})${others.repeat(count - 1)})`;
}
