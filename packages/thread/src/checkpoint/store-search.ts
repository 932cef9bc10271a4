import { type Expression, type SqlBool, sql } from "kysely";
import type { Database } from "../sql/database.ts";
import { atMost } from "../sql/limit.ts";
import { rows, type Tx } from "../sql/statement.ts";
import { parseFilter } from "./store-filter.ts";
import { type FoundItem, ITEM_COLUMNS, type ItemRow, toItem } from "./store-item.ts";
import { checkLabels, namespaceRange } from "./store-namespace.ts";
import { isAlive } from "./store-statements.ts";
import { parseQuery } from "./store-text-search.ts";

export interface ItemSearch {
  scope: string;
  prefix: readonly string[];
  filter?: Record<string, unknown> | undefined;
  query?: string | undefined;
  limit: number;
  offset: number;
}

export interface Found {
  row: ItemRow;
  item: FoundItem;
}

/** Values are up to 1 MB each, so this also bounds what one step of a search holds in memory. */
const ROWS_AT_A_TIME = 100;
/** SQLite refuses longer patterns; a filter for longer text does without the database's help. */
const MAX_NEEDLE = 1_000;

/**
 * Ordered by namespace and key, with a query by score first: an order that neither clocks nor updates of other items
 * change, so that pages fit together.
 */
export function planSearch(db: Database, search: ItemSearch): () => Tx<Found[]> {
  checkLabels(search.prefix);
  const { matches, needles } = parseFilter(search.filter);
  const score = parseQuery(search.query);
  const { limit, offset } = search;
  const candidates = itemsBelow(db, search.scope, search.prefix, needles);

  if (!search.filter && !score) {
    return function* plain() {
      const found: ItemRow[] = yield* rows(candidates.limit(atMost(limit)).offset(offset));
      return found.map((row) => ({ row, item: toItem(row) }));
    };
  }
  return function* sifted() {
    let kept: Found[] = [];
    let last: ItemRow | undefined;
    do {
      const after: Expression<SqlBool> = last ? sql`(namespace, key) > (${last.namespace}, ${last.key})` : sql`1 = 1`;
      const page: ItemRow[] = yield* rows(candidates.where(after).limit(atMost(ROWS_AT_A_TIME)));
      kept = kept.concat(
        page.map((row) => found(row, score)).filter(({ item }) => matches(item.value) && item.score !== 0),
      );
      if (score) kept = best(kept, offset + limit);
      last = page.length < ROWS_AT_A_TIME ? undefined : page.at(-1);
    } while (last && (score || kept.length < offset + limit));
    return kept.slice(offset, offset + limit);
  };
}

function found(row: ItemRow, score: ReturnType<typeof parseQuery>): Found {
  const item = toItem(row);
  return { row, item: score ? { ...item, score: score(item.value) } : item };
}

/** The sort is stable, so equal scores stay in the order of namespace and key. */
function best(found: Found[], count: number): Found[] {
  return found.sort((a, b) => (b.item.score ?? 0) - (a.item.score ?? 0)).slice(0, count);
}

function itemsBelow(db: Database, scope: string, prefix: readonly string[], needles: readonly string[]) {
  let query = db.q
    .selectFrom("store_items")
    .select(ITEM_COLUMNS)
    .where("scope", "=", scope)
    .where(sql<SqlBool>`${sql.raw(isAlive(db.dialect))}`)
    .where(isBelow(prefix))
    .orderBy("namespace")
    .orderBy("key");
  for (const needle of needles.filter(({ length }) => length <= MAX_NEEDLE)) {
    query = query.where(sql<SqlBool>`value like ${`%${needle.replace(/[\\%_]/g, "\\$&")}%`} escape '\\'`);
  }
  return query;
}

export function isBelow(prefix: readonly string[]): Expression<SqlBool> {
  if (prefix.length === 0) return sql`1 = 1`;
  const { from, to } = namespaceRange(prefix);
  return sql`namespace between ${from} and ${to}`;
}
