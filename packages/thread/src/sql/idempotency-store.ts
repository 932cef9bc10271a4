import { AppError, IDEMPOTENCY_KEY_TTL_HOURS, IdempotencyKey, parseInput } from "@cognition/contract";
import { type SqlBool, sql } from "kysely";
import type { IdempotencyStore } from "../idempotency-store.ts";
import type { SqlContext } from "./context.ts";
import { deletePortions, PORTION } from "./delete-portions.ts";
import { fixedQuery } from "./fixed-query.ts";
import { requireDuration } from "./input-checks.ts";
import { jsonText, storedJson } from "./json-text.ts";
import { atMost } from "./limit.ts";
import { scopeText } from "./scope.ts";
import { all, changes, first, type Tx } from "./statement.ts";

const DEFAULT_TTL_MS = IDEMPOTENCY_KEY_TTL_HOURS * 3_600_000;

type Claim = Parameters<IdempotencyStore["claimIdempotencyKey"]>[0];
type ClaimState = Awaited<ReturnType<IdempotencyStore["claimIdempotencyKey"]>>;

export function createIdempotencyStore(ctx: SqlContext): IdempotencyStore {
  const { db } = ctx;
  const nowMs = sql<number>`(select ${sql.raw(db.dialect.nowMs)})`;
  return {
    claimIdempotencyKey: async (claim) => {
      parseInput(IdempotencyKey, claim.key, "idempotency_key");
      return db.transaction(() => claimKey(ctx, claim));
    },
    // A key that ran out while its request worked has nothing to keep the answer in; the request itself stands.
    saveIdempotentResponse: async ({ scope, key, response, ttl_ms }) => {
      requireDuration("ttl_ms", ttl_ms ?? 0);
      const until = ttl_ms === undefined ? {} : { expires_at: sql<number>`${nowMs} + ${ttl_ms}` };
      const set = { response: jsonText(response, "response"), ...until };
      const row = db.q.updateTable("idempotency_keys").set(set);
      await db.transaction(() => changes(row.where("scope", "=", scopeText(scope)).where("key", "=", key)));
    },
    releaseIdempotencyKey: async ({ scope, key }) => {
      const row = db.q.deleteFrom("idempotency_keys").where("scope", "=", scopeText(scope)).where("key", "=", key);
      await db.transaction(() => changes(row.where("response", "is", null)));
    },
    renewIdempotencyKey: async ({ scope, key, ttl_ms }) => {
      requireDuration("ttl_ms", ttl_ms);
      const row = db.q.updateTable("idempotency_keys").set({ expires_at: sql<number>`${nowMs} + ${ttl_ms}` });
      const mine = row.where("scope", "=", scopeText(scope)).where("key", "=", key).where("response", "is", null);
      await db.transaction(() => changes(mine));
    },
    pruneIdempotencyKeys: () => {
      const isOver = sql<SqlBool>`expires_at <= ${nowMs} and (response is not null or expires_at <= ${nowMs} - ${DEFAULT_TTL_MS})`;
      const over = db.q.selectFrom("idempotency_keys").select(["scope", "key"]).where(isOver);
      const portion = over.orderBy("expires_at").limit(atMost(PORTION)).$asTuple("scope", "key");
      const drop = db.q.deleteFrom("idempotency_keys").where((eb) => eb(eb.refTuple("scope", "key"), "in", portion));
      // Over still when it is its turn: somebody may have claimed the key anew meanwhile.
      return deletePortions(db, drop.where(isOver));
    },
  };
}

interface KeyRow {
  scope: string;
  key: string;
  body_hash: string;
  ttl_ms: number;
  created_at: string;
  response: string | null;
}

/** One row for a key that was not there or whose time is over, with the moment since which the same request is at work. */
const insertUnlessKnown = fixedQuery<KeyRow>(({ q, dialect }, row) => {
  const nowMs = sql.raw(dialect.nowMs);
  const fresh = { body_hash: row.body_hash, response: row.response, expires_at: sql<number>`${nowMs} + ${row.ttl_ms}` };
  const isRepeated = sql`idempotency_keys.response is null and idempotency_keys.body_hash = ${row.body_hash}`;
  const since = sql<string>`case when ${isRepeated} then idempotency_keys.created_at else ${row.created_at} end`;
  return q
    .insertInto("idempotency_keys")
    .values({ scope: row.scope, key: row.key, created_at: row.created_at, ...fresh })
    .onConflict((conflict) =>
      conflict
        .columns(["scope", "key"])
        .doUpdateSet({ ...fresh, created_at: since })
        .where("idempotency_keys.expires_at", "<=", sql<number>`${nowMs}`),
    )
    .returning("created_at");
});

/**
 * With the response, where it is known beforehand. The insert is the lock, also when it finds a row and changes nothing: what
 * is read after it can't go away meanwhile.
 */
export function* claimKey({ db, now }: SqlContext, claim: Claim, response: string | null = null): Tx<ClaimState> {
  const { key, body_hash, ttl_ms = DEFAULT_TTL_MS } = claim;
  requireDuration("ttl_ms", ttl_ms);
  const scope = scopeText(claim.scope);
  const [claimed] = yield* all([insertUnlessKnown(db, { scope, key, body_hash, ttl_ms, created_at: now(), response })]);
  const since = claimed?.rows[0]?.created_at as string | undefined;
  if (since !== undefined) return { state: "new", since };
  const known = yield* first(
    db.q.selectFrom("idempotency_keys").selectAll().where("scope", "=", scope).where("key", "=", key),
  );
  if (known && known.body_hash !== body_hash) throw mismatch(key);
  if (!known || known.response === null) return { state: "pending" };
  return { state: "done", response: storedJson(known.response, `The response of idempotency key ${key}`) };
}

export function mismatch(key: string): AppError {
  return new AppError(
    "idempotency_mismatch",
    `The idempotency key ${key} was used with another body. Nothing was done; send a new key with a new request.`,
  );
}
