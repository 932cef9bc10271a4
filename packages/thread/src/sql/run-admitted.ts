import type { Message, Run } from "@cognition/contract";
import { sql } from "kysely";
import type { SqlContext } from "./context.ts";
import { mismatch } from "./idempotency-store.ts";
import { storedJson } from "./json-text.ts";
import { toMessage } from "./message-row.ts";
import { admittedIn } from "./run-admission.ts";
import { toRun } from "./run-row.ts";

/** Claims nothing, unlike an admission: a request that can't be admitted any more may still be one that was. */
export async function findAdmittedRun(
  { db }: SqlContext,
  session_id: string,
  { key, body_hash }: { key: string; body_hash: string },
): Promise<{ run: Run; message: Message | null } | null> {
  const { q } = db;
  const [known] = await db.read(
    q
      .selectFrom("idempotency_keys as k")
      .innerJoin("sessions as s", "s.scope", "k.scope")
      .select(["k.body_hash", "k.response"])
      .where("s.id", "=", session_id)
      .where("k.key", "=", key)
      .where("k.expires_at", ">", sql<number>`(select ${sql.raw(db.dialect.nowMs)})`),
  );
  if (!known || known.response === null) return null;
  if (known.body_hash !== body_hash) throw mismatch(key);
  const { run_id = "", message_id = null } = admittedIn(
    storedJson(known.response, `The response of idempotency key ${key}`),
  );
  const runs = q.selectFrom("runs").selectAll().where("id", "=", run_id).where("session_id", "=", session_id);
  const [row] = await db.read(runs);
  if (!row) throw mismatch(key);
  const messages = q.selectFrom("messages").selectAll().where("session_id", "=", session_id);
  const [message] = message_id === null ? [] : await db.read(messages.where("id", "=", message_id));
  return { run: toRun(row), message: message ? toMessage(message) : null };
}
