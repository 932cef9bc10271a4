import { createHash } from "node:crypto";
import { AppError } from "@cognition/contract";
import type { Selectable } from "kysely";
import type { WriterLease } from "../checkpoint/lease.ts";
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
import { fixedQuery } from "./fixed-query.ts";
import { jsonText, storedJson } from "./json-text.ts";
import { advanceLeased, writeLeased } from "./lease-fence.ts";
import { all, changes, first, type Statement, statement, type Tx } from "./statement.ts";
import type { Tables } from "./tables.ts";
import { argsText, indexedId, toldCall } from "./tool-call-name.ts";

type ToolCallRow = Selectable<Tables["tool_calls"]>;
type Thread = { pk: number; scope: string };

export function createToolJournal(ctx: SqlContext): ToolJournal {
  const { db } = ctx;
  return {
    beginToolCall: async (intent) => {
      const call = newCall(ctx, intent);
      const insert = insertCall(db, call);
      const together = await withCheckpoints(ctx, intent, insert);
      if (together ? together.changes === 1 : await changesCall(ctx, intent, intent.lease, insert)) return begun(call);
      return writeCall(ctx, intent, intent.lease, (thread) => beginAgain(ctx, thread, intent, call));
    },
    finishToolCall: async (key, lease, { outcome, result }) => {
      const end = { status: outcome, result: jsonText(result, "result"), finished_at: ctx.now() };
      if (await changesCall(ctx, key, lease, endStarted(db, { ...indexed(key), ...end }))) return;
      await writeCall(ctx, key, lease, (thread) => requireEnded(ctx, thread, key, end));
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

/** In the commit of what the lease's checkpointer has on its way, if there is anything. */
async function withCheckpoints({ db }: SqlContext, { thread_id, lease }: ToolCallIntent, insert: Statement) {
  const { writes }: WriterLease = lease;
  if (writes?.thread_id !== thread_id) return undefined;
  return writeLeased(db, lease, () => writes.storeWith(lease, insert));
}

/** Whether the change, which is all there is to do in most cases, has found what it is for: then it was one round trip. */
async function changesCall({ db }: SqlContext, key: ToolCallKey, lease: Lease, change: Statement): Promise<boolean> {
  const held = advanceLeased(db, lease, { thread_id: key.thread_id });
  const [, changed] = await writeLeased(db, lease, () => db.atomic([held, change]));
  return changed?.changes === 1;
}

type NewCall = Omit<ToolCallRow, "pk" | "thread" | "scope" | "result" | "finished_at"> & ToolCallKey;

function newCall({ now }: SqlContext, intent: ToolCallIntent): NewCall {
  const { lease, name, on_crash } = intent;
  return {
    ...indexed(intent),
    run_id: lease.run_id,
    name,
    args: argsText(intent.tool_call_id, intent.args),
    on_crash,
    status: "started",
    attempt: 1,
    epoch: lease.epoch,
    idempotency_key: idempotencyKey(intent),
    created_at: now(),
  };
}

/** The call as the journal's index has it. */
function indexed({ thread_id, checkpoint_ns, tool_call_id }: ToolCallKey): ToolCallKey {
  return { thread_id, checkpoint_ns, tool_call_id: indexedId(tool_call_id) };
}

const insertCall = fixedQuery<NewCall>(({ q }, call) => {
  const thread = q.selectFrom("threads").where("thread_id", "=", call.thread_id);
  return q
    .insertInto("tool_calls")
    .values({
      thread: thread.select("pk"),
      scope: thread.select("scope"),
      checkpoint_ns: call.checkpoint_ns,
      tool_call_id: call.tool_call_id,
      run_id: call.run_id,
      name: call.name,
      args: call.args,
      on_crash: call.on_crash,
      status: call.status,
      attempt: call.attempt,
      epoch: call.epoch,
      idempotency_key: call.idempotency_key,
      created_at: call.created_at,
    })
    .onConflict((known) => known.doNothing());
});

type CallEnd = ToolCallKey & { status: ToolOutcome; result: string; finished_at: string };

const endStarted = fixedQuery<CallEnd>(({ q }, end) =>
  q
    .updateTable("tool_calls")
    .set({ status: end.status, result: end.result, finished_at: end.finished_at })
    .where("thread", "=", q.selectFrom("threads").select("pk").where("thread_id", "=", end.thread_id))
    .where("checkpoint_ns", "=", end.checkpoint_ns)
    .where("tool_call_id", "=", end.tool_call_id)
    .where("status", "=", "started"),
);

function begun({ attempt, idempotency_key }: Pick<ToolCallRow, "attempt" | "idempotency_key">): ToolCallState {
  return { state: "started", attempt, idempotency_key };
}

/** Of a call that an earlier attempt has begun. */
function* beginAgain(ctx: SqlContext, thread: Thread, intent: ToolCallIntent, call: NewCall): Tx<ToolCallState> {
  const { q } = ctx.db;
  const { lease } = intent;
  const known = yield* findCall(ctx, thread, intent);
  if (!known) {
    yield* all([insertCall(ctx.db, call)]); // it was taken back in between
    return begun(call);
  }
  if (known.status !== "started" && !mayStartAgain(known, lease)) {
    return { state: "finished", outcome: known.status as ToolOutcome, result: parseResult(known) };
  }
  if (known.epoch === lease.epoch) throw begunTwice(intent);
  if (known.on_crash !== "retry") {
    const { on_crash, idempotency_key } = known;
    return { state: "unknown", on_crash: on_crash as "never" | "ask", idempotency_key };
  }
  const again = { attempt: known.attempt + 1, epoch: lease.epoch, run_id: lease.run_id };
  const open = { status: "started", result: null, finished_at: null };
  const update = q.updateTable("tool_calls").set({ ...again, ...open });
  yield* all([statement(update.where("pk", "=", known.pk))]);
  return begun({ ...known, ...again });
}

/** An earlier attempt was stopped in it, and what it came to nobody knows: a crash would have left it open. */
function mayStartAgain(call: ToolCallRow, lease: Lease): boolean {
  const isStopped = call.status === "aborted" || call.status === "unknown";
  return call.on_crash === "retry" && isStopped && parseResult(call) === null && call.epoch !== lease.epoch;
}

/** Made of what names the call, so that it is the same again even after the intent was taken back. */
function idempotencyKey({ thread_id, checkpoint_ns, tool_call_id }: ToolCallKey): string {
  return createHash("sha256")
    .update(JSON.stringify([thread_id, checkpoint_ns, tool_call_id]))
    .digest("hex")
    .slice(0, 32);
}

/** Sent again, because the first answer was lost, the same end is no error. */
function* requireEnded(
  ctx: SqlContext,
  thread: Thread,
  key: ToolCallKey,
  { status, result }: Pick<CallEnd, "status" | "result">,
): Tx<void> {
  const known = yield* findCall(ctx, thread, key);
  if (!known)
    throw new AppError("tool_call_not_found", `Tool call ${key.tool_call_id} was never begun; its end was not stored`);
  if (known.status !== status || known.result !== result) throw endedAlready(key, known.status);
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

function parseResult({ tool_call_id, result }: Pick<ToolCallRow, "tool_call_id" | "result">): unknown {
  return result === null ? null : storedJson(result, `The result of tool call ${tool_call_id}`);
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
    result: parseResult(row),
    created_at: row.created_at,
    finished_at: row.finished_at,
  };
}
