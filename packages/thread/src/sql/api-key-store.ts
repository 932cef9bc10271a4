import { type ApiKey, AppError } from "@cognition/contract";
import type { Selectable } from "kysely";
import type { ApiKeyStore } from "../api-key-store.ts";
import type { ApiKeyRow } from "./access-tables.ts";
import type { SqlContext } from "./context.ts";
import { requireKnown } from "./known-names.ts";
import { atMost } from "./limit.ts";
import { pageBounds } from "./page-bounds.ts";
import { scopeText } from "./scope.ts";
import { changes, first, type Tx } from "./statement.ts";

export function createApiKeyStore(ctx: SqlContext): ApiKeyStore {
  const { db, now, newId } = ctx;
  return {
    createApiKey: ({ scope, admin, ...key }) => {
      const row = {
        ...key,
        id: newId(),
        scope: scope === null ? null : scopeText(scope),
        admin: admin ? 1 : 0,
        created_at: now(),
      };
      const insert = db.q
        .insertInto("api_keys")
        .values(row)
        .onConflict((conflict) => conflict.column("prefix").doNothing())
        .returningAll();
      return db.transaction(function* () {
        const stored = yield* first(insert);
        if (!stored) throw new AppError("already_exists", `There is an API key that begins with ${key.prefix} already`);
        return toApiKey(stored);
      });
    },
    findApiKey: async (prefix) => {
      const [row] = await db.read(db.q.selectFrom("api_keys").selectAll().where("prefix", "=", prefix));
      return row && { api_key: toApiKey(row), hash: row.hash };
    },
    listApiKeys: async (page = {}) => {
      requireKnown("API keys", page, ["limit", "offset"]);
      const { limit, offset } = pageBounds(page);
      const query = db.q.selectFrom("api_keys").selectAll().orderBy("pk", "desc").limit(atMost(limit)).offset(offset);
      return (await db.read(query)).map(toApiKey);
    },
    revokeApiKey: (id_or_prefix) => db.transaction(() => revoke(ctx, id_or_prefix)),
    touchApiKey: async (id) => {
      const used = db.q.updateTable("api_keys").set({ last_used_at: now() }).where("id", "=", id);
      await db.transaction(() => changes(used));
    },
  };
}

function* revoke({ db, now }: SqlContext, id_or_prefix: string): Tx<ApiKey> {
  const row = yield* first(
    db.q
      .updateTable("api_keys")
      .set((eb) => ({ revoked_at: eb.fn.coalesce("revoked_at", eb.val(now())) }))
      .where((eb) => eb.or([eb("id", "=", id_or_prefix), eb("prefix", "=", id_or_prefix)]))
      .returningAll(),
  );
  if (!row) {
    throw new AppError(
      "api_key_not_found",
      `There is no API key ${id_or_prefix}; nothing was revoked. Name a key by its id or by how it begins.`,
    );
  }
  return toApiKey(row);
}

function toApiKey(row: Selectable<ApiKeyRow>): ApiKey {
  const { id, prefix, name, created_at, last_used_at, expires_at, revoked_at } = row;
  const scope = row.scope === null ? null : JSON.parse(row.scope);
  return { id, prefix, name, scope, admin: row.admin === 1, created_at, last_used_at, expires_at, revoked_at };
}
