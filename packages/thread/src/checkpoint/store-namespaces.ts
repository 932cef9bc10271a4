import { AppError } from "@cognition/contract";
import type { MatchCondition } from "@langchain/langgraph-checkpoint";
import { type SqlBool, sql } from "kysely";
import type { Database } from "../sql/database.ts";
import { atMost } from "../sql/limit.ts";
import { rows, type Tx } from "../sql/statement.ts";
import { checkLabels, decodeNamespace, encodeNamespace, literalPrefix, matchesNamespace } from "./store-namespace.ts";
import { isBelow } from "./store-search.ts";
import { isAlive } from "./store-statements.ts";

export interface NamespaceListing {
  scope: string;
  conditions: readonly MatchCondition[];
  maxDepth?: number | undefined;
  limit: number;
  offset: number;
}

/** Each namespace that holds an item, once, cut to `maxDepth` labels; in the order of their text. */
export function planListing(db: Database, listing: NamespaceListing): () => Tx<string[][]> {
  const { scope, conditions, maxDepth, limit, offset } = listing;
  for (const condition of conditions) checkCondition(condition);
  const query = db.q
    .selectFrom("store_items")
    .select("namespace")
    .distinct()
    .where("scope", "=", scope)
    .where(sql<SqlBool>`${sql.raw(isAlive(db.dialect))}`)
    .where(isBelow(literalPrefix(conditions)))
    .orderBy("namespace");

  if (conditions.length === 0 && maxDepth === undefined) {
    return function* whole() {
      const found = yield* rows(query.limit(atMost(limit)).offset(offset));
      return found.map(({ namespace }) => decodeNamespace(namespace));
    };
  }
  return function* sifted() {
    const found = yield* rows(query);
    const cut = found
      .map(({ namespace }) => decodeNamespace(namespace))
      .filter((namespace) => conditions.every((condition) => matchesNamespace(condition, namespace)))
      .map((namespace) => encodeNamespace(namespace.slice(0, maxDepth)));
    return [...new Set(cut)].slice(offset, offset + limit).map(decodeNamespace);
  };
}

function checkCondition({ matchType, path }: MatchCondition): void {
  checkLabels(path);
  if (matchType !== "prefix" && matchType !== "suffix") {
    throw new AppError(
      "validation_failed",
      `A namespace is matched by "prefix" or "suffix"; got ${JSON.stringify(matchType)}`,
    );
  }
}
