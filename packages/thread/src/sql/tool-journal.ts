import { createHash } from "node:crypto";
import { AppError } from "@cognition/contract";
import type { Insertable, Selectable } from "kysely";
import type { Lease } from "../run-store.ts";
import type {
  ToolCallIntent,
  ToolCallKey,
  ToolCallRecord,
  ToolCallState,
  ToolJournal,
  ToolOutcome,
} from "../tool-journal.ts";
import type { SqlContext } from "./context.ts";
import { jsonText } from "./json-text.ts";
import { advanceLeased, writeLeased } from "./lease-fence.ts";
import { all, changes, first, statement, type Tx } from "./statement.ts";
import type { Tables } from "./tables.ts";
import { argsText, indexedId, toldCall } from "./tool-call-name.ts";

type ToolCallRow = Selectable<Tables["tool_calls"]>;
type Thread = { pk: number; scope: string };

export function createToolJournal(ctx: SqlContext): ToolJournal {
  const { db } = ctx;
  return {
    beginToolCall: async (intent) => {
      const args = argsText(intent.tool_call_id, intent.args);
      return writeCall(ctx, intent, intent.lease, (thread) => begin(ctx, thread, intent, args));
    },
    finishToolCall: async (key, lease, { outcome, result }) => {
      const text = jsonText(result, "result");
      await writeCall(ctx, key, lease, (thread) => finish(ctx, thread, key, { status: outcome, result: text }));
    },
    withdrawToolCall: (key, lease) => writeCall(ctx, key, lease, (thread) => withdraw(ctx, thread, key)),
    listToolCalls: async (run_id) => {
      const query = db.q.selectFrom("tool_calls").selectAll().where("run_id", "=", run_id).orderBy("pk");
      return (await db.read(query)).map(toRecord);
    },
  };
}

/** A transaction that holds the thread's row and the lease from its first statement. */
function writeCall<T>(ctx: SqlContext, key: ToolCallKey, lease: Lease, body: (thread: Thread) => Tx<T>): Promise<T> {
  const { db } = ctx;
  return writeLeased(db, lease, () =>
    db.transaction(function* () {
      const [thread] = yield* all([advanceLeased(db, lease, { thread_id: key.thread_id })]);
      return yield* body(thread?.rows[0] as unknown as Thread);
    }),
  );
}

function* begin(ctx: SqlContext, thread: Thread, intent: ToolCallIntent, args: string): Tx<ToolCallState> {
  const { q } = ctx.db;
  const { lease } = intent;
  const known = yield* findCall(ctx, thread, intent);
  if (!known) {
    const row = newRow(ctx, thread, intent, args);
    yield* all([statement(q.insertInto("tool_calls").values(row))]);
    return { state: "started", attempt: 1, idempotency_key: row.idempotency_key };
  }
  if (known.status !== "started") {
    return { state: "finished", outcome: known.status as ToolOutcome, result: parseResult(known.result) };
  }
  if (known.epoch === lease.epoch) throw begunTwice(intent);
  if (known.on_crash !== "retry") {
    const { on_crash, idempotency_key } = known;
    return { state: "unknown", on_crash: on_crash as "never" | "ask", idempotency_key };
  }
  const attempt = known.attempt + 1;
  const again = q.updateTable("tool_calls").set({ attempt, epoch: lease.epoch, run_id: lease.run_id });
  yield* all([statement(again.where("pk", "=", known.pk))]);
  return { state: "started", attempt, idempotency_key: known.idempotency_key };
}

function newRow(
  { now }: SqlContext,
  thread: Thread,
  intent: ToolCallIntent,
  args: string,
): Insertable<Tables["tool_calls"]> {
  const { checkpoint_ns, tool_call_id, lease, name, on_crash } = intent;
  return {
    thread: thread.pk,
    checkpoint_ns,
    tool_call_id: indexedId(tool_call_id),
    run_id: lease.run_id,
    scope: thread.scope,
    name,
    args,
    on_crash,
    status: "started",
    attempt: 1,
    epoch: lease.epoch,
    idempotency_key: idempotencyKey(intent),
    created_at: now(),
  };
}

/** Made of what names the call, so that it is the same again even after the intent was taken back. */
function idempotencyKey({ thread_id, checkpoint_ns, tool_call_id }: ToolCallKey): string {
  return createHash("sha256")
    .update(JSON.stringify([thread_id, checkpoint_ns, tool_call_id]))
    .digest("hex")
    .slice(0, 32);
}

function* finish(
  ctx: SqlContext,
  thread: Thread,
  key: ToolCallKey,
  end: { status: ToolOutcome; result: string },
): Tx<void> {
  const known = yield* findCall(ctx, thread, key);
  if (!known)
    throw new AppError("tool_call_not_found", `Tool call ${key.tool_call_id} was never begun; its end was not stored`);
  if (known.status === end.status && known.result === end.result) return; // sent again: the first answer was lost
  if (known.status !== "started") throw endedAlready(key, known.status);
  const query = ctx.db.q.updateTable("tool_calls").set({ ...end, finished_at: ctx.now() });
  yield* changes(query.where("pk", "=", known.pk));
}

function* withdraw(ctx: SqlContext, thread: Thread, key: ToolCallKey): Tx<void> {
  const known = yield* findCall(ctx, thread, key);
  if (!known) return;
  if (known.status !== "started") throw endedAlready(key, known.status);
  yield* changes(ctx.db.q.deleteFrom("tool_calls").where("pk", "=", known.pk));
}

function* findCall({ db }: SqlContext, thread: Thread, key: ToolCallKey): Tx<ToolCallRow | undefined> {
  return yield* first(
    db.q
      .selectFrom("tool_calls")
      .selectAll()
      .where("thread", "=", thread.pk)
      .where("checkpoint_ns", "=", key.checkpoint_ns)
      .where("tool_call_id", "=", indexedId(key.tool_call_id)),
  );
}

function begunTwice({ tool_call_id, checkpoint_ns }: ToolCallKey): AppError {
  return new AppError(
    "tool_call_started",
    `Tool call ${tool_call_id} in "${checkpoint_ns}" was begun under this lease already and has no result; it is not begun again`,
  );
}

function endedAlready({ tool_call_id }: ToolCallKey, status: string): AppError {
  return new AppError("tool_call_ended", `Tool call ${tool_call_id} has ended as ${status} already; that stays`);
}

function parseResult(result: string | null): unknown {
  return result === null ? null : JSON.parse(result);
}

function toRecord(row: ToolCallRow): ToolCallRecord {
  return {
    checkpoint_ns: row.checkpoint_ns,
    ...toldCall(row),
    run_id: row.run_id,
    name: row.name,
    status: row.status as ToolCallRecord["status"],
    attempt: row.attempt,
    idempotency_key: row.idempotency_key,
    result: parseResult(row.result),
    created_at: row.created_at,
    finished_at: row.finished_at,
  };
}
