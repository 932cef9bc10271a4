import { AppError, type Delivery, type DeliveryAttempt, type Scope } from "@cognition/contract";
import { type RawBuilder, type Selectable, type SqlBool, sql } from "kysely";
import type { DeliveryFilter, DeliveryStore, NewDelivery } from "../delivery-store.ts";
import type { SqlContext } from "./context.ts";
import { claimReadable, readRow } from "./damaged-rows.ts";
import { deletePortions, PORTION } from "./delete-portions.ts";
import { requireAmount, requireDate, requireDuration, requireLease, requireWhole } from "./input-checks.ts";
import { jsonText, storedJson } from "./json-text.ts";
import { requireKnown } from "./known-names.ts";
import { isOver } from "./lease-time.ts";
import { atMost } from "./limit.ts";
import { madeBefore } from "./made-before.ts";
import { pageBounds } from "./page-bounds.ts";
import { scopeText, scopeTextOf } from "./scope.ts";
import { changes, first, rows, type Statement, statement, type Tx } from "./statement.ts";
import type { Tables } from "./tables.ts";

type DeliveryRow = Selectable<Tables["deliveries"]>;
type Attempt = Parameters<DeliveryStore["recordAttempt"]>[1];

/** Literal, so that the index of those that are done fits. */
const IS_DONE = sql<SqlBool>`status <> 'pending'`;

export function createDeliveryStore(ctx: SqlContext): DeliveryStore {
  const { db } = ctx;
  return {
    getDelivery: async (delivery_id, scope) => {
      const query = db.q.selectFrom("deliveries").selectAll().where("id", "=", delivery_id);
      const own = scopeTextOf(scope);
      const [row] = await db.read(own === undefined ? query : query.where("scope", "=", own), own);
      if (!row) throw deliveryNotFound(delivery_id);
      return toDelivery(row);
    },
    listDeliveries: async ({ limit: most, offset: from, before, ...filter } = {}) => {
      const { limit, offset } = pageBounds({ limit: most, offset: from });
      const all = select(ctx, filter).selectAll().orderBy("pk", "desc");
      const query = before === undefined ? all : all.where(madeBefore("deliveries", "deliveries", before));
      return (await db.read(query.limit(atMost(limit)).offset(offset), scopeTextOf(filter.scope))).map(toDelivery);
    },
    countDeliveries: async (filter = {}) => {
      const query = select(ctx, filter).select(({ fn }) => fn.countAll<number>().as("count"));
      const [row] = await db.read(query, scopeTextOf(filter.scope));
      return Number(row?.count ?? 0);
    },
    claimDeliveries: async (claim) => {
      requireWhole("limit", claim.limit);
      requireLease("lease_ms", claim.lease_ms);
      return claimReadable(
        (damaged) => db.transaction(() => claimDue(ctx, claim, damaged)),
        (claimed) => claimed.length === 0,
      );
    },
    recordAttempt: async (delivery_id, attempt) => {
      const { next_attempt_ms = 0, duration_ms = 0 } = attempt;
      requireDuration("next_attempt_ms", next_attempt_ms);
      requireAmount("duration_ms", duration_ms);
      return db.transaction(() => recordAttempt(ctx, delivery_id, attempt));
    },
    redeliver: (delivery_id, scope) => db.transaction(() => redeliver(ctx, delivery_id, scope)),
    pruneDeliveries: (before, options) => pruneDeliveries(ctx, before, options),
  };
}

function select({ db }: SqlContext, filter: DeliveryFilter) {
  requireKnown("Deliveries", filter, ["scope", "status", "session_id"]);
  const { scope, status, session_id } = filter;
  let query = db.q.selectFrom("deliveries");
  if (scope !== undefined) query = query.where("scope", "=", scopeText(scope));
  if (status !== undefined) query = query.where("status", "=", status);
  if (session_id !== undefined) query = query.where("session_id", "=", session_id);
  return query;
}

/** The outbox row, due at once: part of the transaction that ends or suspends the run. */
export function insertDelivery(
  { db, now, newId }: SqlContext,
  { url, payload }: NewDelivery,
  run: { session_id: string; run_id: string; scope: string },
): Statement {
  return statement(
    db.q.insertInto("deliveries").values({
      ...run,
      id: newId(),
      url,
      payload: jsonText(payload, "payload"),
      status: "pending",
      attempts: "[]",
      next_attempt_at: sql<number>`${sql.raw(db.dialect.nowMs)}`,
      created_at: now(),
    }),
  );
}

type Claim = Parameters<DeliveryStore["claimDeliveries"]>[0];

function* claimDue(
  { db }: SqlContext,
  { limit, lease_ms, except = [] }: Claim,
  damaged: readonly string[],
): Tx<Delivery[]> {
  // As a subquery the time is asked for once; PostgreSQL would not use the index for a function that varies by row.
  const nowMs = sql<number>`(select ${sql.raw(db.dialect.nowMs)})`;
  const claimed = yield* rows(
    db.q
      .with(
        (cte) => cte("due").materialized(),
        (q) =>
          q
            .selectFrom("deliveries")
            .select("pk")
            // Literal, so that the index of pending deliveries fits.
            .where(sql<boolean>`status = 'pending'`)
            .where("next_attempt_at", "<=", nowMs)
            .where(sql<boolean>`${sql.raw(isOver("claimed_until", `(select ${db.dialect.nowMs})`))}`)
            .where((eb) => eb.and(except.map(notTo)))
            .where((eb) => eb.and(damaged.map((id) => eb("id", "<>", id))))
            .orderBy("next_attempt_at")
            .limit(atMost(limit))
            .modifyEnd(sql.raw(db.dialect.skipLocked)),
      )
      .updateTable("deliveries")
      .set({ claimed_until: sql<number>`${nowMs} + ${lease_ms}` })
      .where("pk", "in", (eb) => eb.selectFrom("due").select("pk"))
      .returningAll(),
  );
  return claimed.sort((a, b) => a.pk - b.pk).map((row) => readRow(row.id, () => toDelivery(row)));
}

/** The host must end there: `https://a.example` is not that of `https://a.example.com/`. */
function notTo(receiver: string): RawBuilder<SqlBool> {
  const ends = ["", "/", "?", "#"].map((end) => `${receiver}${end}`);
  return sql<SqlBool>`substr(url, 1, ${sql.lit(receiver.length + 1)}) not in (${sql.join(ends)})`;
}

/** A failure that is told after a success (two workers, one of them late) does not undo it. */
function* recordAttempt({ db, now }: SqlContext, delivery_id: string, attempt: Attempt): Tx<Delivery> {
  const ours = db.q.updateTable("deliveries").where("id", "=", delivery_id);
  const row = yield* first(ours.set({ claimed_until: null }).returningAll());
  if (!row) throw deliveryNotFound(delivery_id);
  const at = now();
  const attempts: DeliveryAttempt[] = attemptsOf(row);
  const { status_code: status, error, duration_ms = 0 } = attempt;
  attempts.push({ attempt: attempts.length + 1, at, status, error, duration_ms });
  const stored = yield* first(
    ours.set({ attempts: jsonText(attempts, "attempts"), ...outcome(row, attempt, at) }).returningAll(),
  );
  yield* removeIfOrphaned(db, stored ?? row);
  return toDelivery(stored ?? row);

  function outcome({ status }: DeliveryRow, { ok, next_attempt_ms }: Attempt, delivered_at: string) {
    if (ok) return { status: "delivered", delivered_at, next_attempt_at: null };
    if (status === "delivered") return {};
    if (next_attempt_ms === undefined) return { status: "dead", next_attempt_at: null };
    return { status: "pending", next_attempt_at: sql<number>`${sql.raw(db.dialect.nowMs)} + ${next_attempt_ms}` };
  }
}

/** Asked while the row is held: a deletion that comes at the same time waits for it, and then finds it done. */
function* removeIfOrphaned({ q }: SqlContext["db"], { pk, session_id, status }: DeliveryRow): Tx<void> {
  if (status === "pending") return;
  const session = yield* first(q.selectFrom("sessions").select("pk").where("id", "=", session_id));
  if (!session) yield* changes(q.deleteFrom("deliveries").where("pk", "=", pk));
}

/** Of a session that goes. All of its rows are held first, so that none becomes done unnoticed. */
export function* removeDone({ db }: SqlContext, session_id: string): Tx<void> {
  const held = db.q.selectFrom("deliveries").select("pk").where("session_id", "=", session_id).orderBy("pk");
  yield* rows(held.modifyEnd(sql.raw(db.dialect.lockRows)));
  yield* changes(db.q.deleteFrom("deliveries").where("session_id", "=", session_id).where(IS_DONE));
}

async function pruneDeliveries(
  { db }: SqlContext,
  before: Date,
  { signal }: { signal?: AbortSignal } = {},
): Promise<number> {
  requireDate("before", before);
  const at = before.toISOString();
  const old = db.q.selectFrom("deliveries").select("pk").where(IS_DONE).where("created_at", "<", at);
  const due = old.where((eb) => eb.or([eb("delivered_at", "is", null), eb("delivered_at", "<", at)]));
  const portion = due.orderBy("created_at").limit(atMost(PORTION));
  // Done still when it is its turn: somebody may have asked for it again meanwhile.
  return deletePortions(db, db.q.deleteFrom("deliveries").where("pk", "in", portion).where(IS_DONE), signal);
}

function* redeliver({ db }: SqlContext, delivery_id: string, scope: Scope | undefined): Tx<Delivery> {
  const ours = db.q.updateTable("deliveries").where("id", "=", delivery_id);
  const due = (scope === undefined ? ours : ours.where("scope", "=", scopeText(scope))).set({
    status: "pending",
    next_attempt_at: sql<number>`${sql.raw(db.dialect.nowMs)}`,
    claimed_until: null,
    delivered_at: null,
  });
  const row = yield* first(due.returningAll());
  if (!row) throw deliveryNotFound(delivery_id);
  return toDelivery(row);
}

function toDelivery(row: DeliveryRow): Delivery {
  const { id, session_id, run_id, url, created_at, delivered_at } = row;
  return {
    ...{ id, session_id, run_id, url },
    status: row.status as Delivery["status"],
    payload: storedJson(row.payload, `The payload of delivery ${id}`),
    attempts: attemptsOf(row),
    next_attempt_at: row.next_attempt_at === null ? null : new Date(row.next_attempt_at).toISOString(),
    ...{ created_at, delivered_at },
  };
}

function attemptsOf({ id, attempts }: DeliveryRow): DeliveryAttempt[] {
  return storedJson(attempts, `The attempts of delivery ${id}`);
}

function deliveryNotFound(delivery_id: string): AppError {
  return new AppError("delivery_not_found", `There is no delivery ${delivery_id}`);
}
