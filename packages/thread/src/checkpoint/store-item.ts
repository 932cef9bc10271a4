import type { Item } from "@langchain/langgraph-checkpoint";
import type { Selectable } from "kysely";
import type { Tables } from "../sql/tables.ts";
import { parseJson } from "./serializer.ts";
import { decodeNamespace } from "./store-namespace.ts";

export interface StoredItem extends Item {
  /** By the database's clock, as it stood before this read refreshed it; null if it stays. */
  expiresAt: Date | null;
}

export interface FoundItem extends StoredItem {
  /** The share of the query's words that were found; only with a query. */
  score?: number;
}

export type ItemRow = Omit<Selectable<Tables["store_items"]>, "scope">;

export const ITEM_COLUMNS = ["namespace", "key", "value", "ttl_ms", "expires_at", "created_at", "updated_at"] as const;

export function toItem(row: ItemRow): StoredItem {
  return {
    namespace: decodeNamespace(row.namespace),
    key: row.key,
    value: parseJson(row.value, `The memory item ${row.key} of ${row.namespace}`) as Record<string, unknown>,
    createdAt: new Date(row.created_at),
    updatedAt: new Date(row.updated_at),
    expiresAt: row.expires_at === null ? null : new Date(row.expires_at),
  };
}
