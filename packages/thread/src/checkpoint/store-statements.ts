import { AppError, MAX_TTL_SECONDS, utf8Length } from "@cognition/contract";
import { type Dialect, placeholders } from "../sql/dialect.ts";
import type { Statement } from "../sql/statement.ts";
import { checkNamespace, encodeNamespace } from "./store-namespace.ts";

/** PostgreSQL's index entries end at about 2,700 bytes, and scope, namespace and key are one. */
const MAX_ADDRESS_BYTES = 2_500;

export interface ItemAddress {
  scope: string;
  namespace: string;
  key: string;
}

export interface ItemWrite extends ItemAddress {
  value: string;
  ttlMs: number | null;
  now: string;
}

export function itemAddress(scope: string, namespace: readonly string[], key: string): ItemAddress {
  checkNamespace(namespace);
  if (typeof key !== "string" || key === "") throw invalidKey("a key is text of at least one character", key);
  if (key.includes("\0") || !key.isWellFormed())
    throw invalidKey("a key can't hold U+0000 or half a surrogate pair", key);
  const address = { scope, namespace: encodeNamespace(namespace), key };
  const bytes = utf8Length(scope) + utf8Length(address.namespace) + utf8Length(key);
  if (bytes > MAX_ADDRESS_BYTES) {
    throw new AppError(
      "limit_exceeded",
      `Scope, namespace and key take ${bytes} bytes together, the limit is ${MAX_ADDRESS_BYTES}`,
      { details: { limit: "store_address", max: MAX_ADDRESS_BYTES, size: bytes } },
    );
  }
  return address;
}

/** Minutes, as in LangGraph's other stores. */
export function ttlMs(minutes: number | null | undefined): number | null {
  if (minutes === null || minutes === undefined) return null;
  const ms = Math.ceil(minutes * 60_000);
  if (typeof minutes !== "number" || !(ms > 0 && ms <= MAX_TTL_SECONDS * 1000)) {
    throw new AppError(
      "validation_failed",
      `ttl is in minutes, above 0 and at most ${MAX_TTL_SECONDS / 60}; got ${String(minutes)}`,
    );
  }
  return ms;
}

export function isAlive({ nowMs }: Dialect): string {
  return `(expires_at is null or expires_at > ${nowMs})`;
}

export function selectItem(dialect: Dialect, { scope, namespace, key }: ItemAddress): Statement {
  const sql = `select namespace, key, value, ttl_ms, expires_at, created_at, updated_at from store_items
    where scope = ? and namespace = ? and key = ? and ${isAlive(dialect)}`;
  return { sql: placeholders(dialect, sql), params: [scope, namespace, key], prepare: true };
}

/** An item that has run out is gone, also while its row is still there: writing it anew makes it a new item. */
export function upsertItem(dialect: Dialect, item: ItemWrite): Statement {
  const sql = `insert into store_items (scope, namespace, key, value, ttl_ms, expires_at, created_at, updated_at)
    values (?, ?, ?, ?, ?, ${dialect.nowMs} + ?, ?, ?)
    on conflict (scope, namespace, key) do update set
      value = excluded.value, ttl_ms = excluded.ttl_ms, expires_at = excluded.expires_at,
      updated_at = excluded.updated_at,
      created_at = case when store_items.expires_at <= ${dialect.nowMs} then excluded.created_at
        else store_items.created_at end`;
  const { scope, namespace, key, value, ttlMs, now } = item;
  return {
    sql: placeholders(dialect, sql),
    params: [scope, namespace, key, value, ttlMs, ttlMs, now, now],
    prepare: true,
  };
}

export function deleteItem(dialect: Dialect, { scope, namespace, key }: ItemAddress): Statement {
  const sql = "delete from store_items where scope = ? and namespace = ? and key = ?";
  return { sql: placeholders(dialect, sql), params: [scope, namespace, key], prepare: true };
}

/** Never brings back what ran out in the meantime. */
export function refreshItem(dialect: Dialect, { scope, namespace, key }: ItemAddress): Statement {
  const sql = `update store_items set expires_at = ${dialect.nowMs} + ttl_ms
    where scope = ? and namespace = ? and key = ? and ttl_ms is not null and expires_at > ${dialect.nowMs}`;
  return { sql: placeholders(dialect, sql), params: [scope, namespace, key], prepare: true };
}

/** PostgreSQL finds by an index what is compared with one moment, and not with a clock that goes on meanwhile. */
export function deleteExpired(dialect: Dialect, scope: string): Statement {
  const sql = `delete from store_items where scope = ? and expires_at <= (select ${dialect.nowMs})`;
  return { sql: placeholders(dialect, sql), params: [scope] };
}

function invalidKey(message: string, key: unknown): AppError {
  return new AppError("validation_failed", `${message}; got ${JSON.stringify(key)}`, { details: { key } });
}
