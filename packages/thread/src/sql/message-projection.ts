import { parseBody } from "../checkpoint/checkpoint-body.ts";
import type { JsonValue } from "../checkpoint/json-value.ts";
import { addedTo, type ListEntry } from "../checkpoint/list-entries.ts";
import { messageFieldsOf, messageIdOf } from "../checkpoint/message-fields.ts";
import { PieceDecoder } from "../checkpoint/piece-decoder.ts";
import { MESSAGES } from "../checkpoint/project-checkpoint.ts";
import { PENDING } from "../checkpoint/projection-statements.ts";
import { parseJson } from "../checkpoint/serializer.ts";
import type { MessageStore, RebuildReport } from "../message-store.ts";
import type { SqlContext } from "./context.ts";
import { placeholders } from "./dialect.ts";
import { inheritMessages } from "./inherit-messages.ts";
import { storedJson } from "./json-text.ts";
import type { MessageRow } from "./message-row.ts";
import { readAhead } from "./read-ahead.ts";
import { repairMessages, type WantedMessage } from "./repair-messages.ts";
import { first, rows, type Tx } from "./statement.ts";
import { UnnamedMessages } from "./unnamed-messages.ts";
import { writeThread } from "./write-thread.ts";

interface Step {
  checkpoint_id: string;
  run_id: string | null;
  ts: string;
  messages: JsonValue | undefined;
}

export function createMessageProjection(ctx: SqlContext): Pick<MessageStore, "rebuildMessages"> {
  return {
    rebuildMessages: async (session_id) => {
      const decoder = await readAhead(ctx, session_id);
      return writeThread(ctx.db, { session_id }, function* () {
        yield* inheritMessages(ctx, session_id, decoder);
        return yield* rebuildMessages(ctx, session_id, decoder);
      });
    },
  };
}

/**
 * Inside the transaction that holds the thread's row, in which what was read ahead need not be read any more. A thread without
 * checkpoints has nothing to rebuild from.
 */
export function* rebuildMessages(ctx: SqlContext, session_id: string, ahead?: PieceDecoder): Tx<RebuildReport> {
  const { q } = ctx.db;
  const thread = yield* first(
    q
      .selectFrom("threads")
      .innerJoin("sessions", "sessions.thread_id", "threads.thread_id")
      .select(["threads.pk", "threads.lineage", "threads.head", "threads.thread_id", "sessions.scope"])
      .where("sessions.id", "=", session_id),
  );
  const existing = yield* rows(
    q.selectFrom("messages").selectAll().where("session_id", "=", session_id).orderBy("position").orderBy("pk"),
  );
  if (!thread?.head) return { checked: existing.length, repaired: 0, added: 0, removed: 0 };
  const decoder = ahead ?? new PieceDecoder(ctx.db, thread.lineage ?? thread.pk, `Thread ${thread.thread_id}`);
  const steps = yield* readAncestry(ctx, thread.pk, thread.head);
  const pending = yield* readPending(ctx, thread.pk, thread.head);
  yield* decoder.fetching([...steps.flatMap((step) => step.messages ?? []), ...pending.map(({ value }) => value)]);
  const wanted = applyPending(fold(steps, decoder), pending, decoder, steps.at(-1));
  const inputs = unprojected(existing, wanted);
  const ancestry = new Set(steps.map(({ checkpoint_id }) => checkpoint_id));
  const checkpoints = yield* readIds(ctx, thread.pk);
  return yield* repairMessages(ctx, {
    session_id,
    scope: thread.scope,
    existing,
    wanted,
    inputs,
    ancestry,
    checkpoints,
  });
}

/** The ids of the rows of what a checkpoint's state holds, in its order. */
export function* heldIds(ctx: SqlContext, session_id: string, checkpoint_id: string): Tx<string[]> {
  const { q } = ctx.db;
  const joined = q.selectFrom("threads").innerJoin("sessions", "sessions.thread_id", "threads.thread_id");
  const thread = yield* first(joined.select(["threads.pk", "threads.lineage"]).where("sessions.id", "=", session_id));
  if (!thread) return [];
  const decoder = new PieceDecoder(ctx.db, thread.lineage ?? thread.pk, `Session ${session_id}`);
  const steps = yield* readAncestry(ctx, thread.pk, checkpoint_id);
  yield* decoder.fetching(steps.flatMap((step) => step.messages ?? []));
  return [...fold(steps, decoder).values()].flatMap(({ id, left_state }) => (left_state === null ? id : []));
}

/** All root checkpoints of the thread. What a row names and is not among them was pruned. */
function* readIds({ db }: SqlContext, thread: number): Tx<Set<string>> {
  const found = yield* rows(
    db.q.selectFrom("checkpoints").select("checkpoint_id").where("thread", "=", thread).where("ns", "=", ""),
  );
  return new Set(found.map(({ checkpoint_id }) => checkpoint_id));
}

/** Oldest first. */
function* readAncestry({ db }: SqlContext, thread: number, head: string): Tx<Step[]> {
  const [found] = yield [
    {
      sql: placeholders(
        db.dialect,
        // The thread is carried along, as in `readAncestors`.
        `with recursive chain (thread, checkpoint_id, parent_id, body, metadata, depth) as (
           select thread, checkpoint_id, parent_id, body, metadata, 0 from checkpoints where thread = ? and ns = '' and checkpoint_id = ?
           union all
           select p.thread, p.checkpoint_id, p.parent_id, p.body, p.metadata, chain.depth + 1
           from chain join checkpoints p on p.thread = chain.thread and p.ns = '' and p.checkpoint_id = chain.parent_id)
         select checkpoint_id, body, metadata from chain order by depth desc`,
      ),
      params: [thread, head],
    },
  ];
  return (found?.rows ?? []).map((row) => {
    const { ts, channels } = parseBody(row["body"] as Uint8Array, `Checkpoint ${row["checkpoint_id"]}`);
    const { run_id } = storedJson(row["metadata"] as string, `The metadata of checkpoint ${row["checkpoint_id"]}`) as {
      run_id?: string;
    };
    return {
      checkpoint_id: row["checkpoint_id"] as string,
      run_id: run_id ?? null,
      ts,
      messages: channels[MESSAGES]?.[1],
    };
  });
}

interface PendingWrite {
  task_id: string;
  value: JsonValue;
}

function* readPending({ db }: SqlContext, thread: number, head: string): Tx<PendingWrite[]> {
  const query = db.q
    .selectFrom("checkpoint_writes")
    .select(["task_id", "value"])
    .where("thread", "=", thread)
    .where("ns", "=", "")
    .where("checkpoint_id", "=", head)
    .where("channel", "=", MESSAGES);
  const found = yield* rows(query.orderBy("task_path").orderBy("task_id").orderBy("idx"));
  return found.map(({ task_id, value }) => ({ task_id, value: parseJson(value, "A pending write") }));
}

/**
 * The messages are in the state's order; one that a later state no longer holds stays where it was, marked. What a state
 * only adds to the one before is all that is looked at: of a long conversation, going through all of it at each step would
 * take minutes.
 */
function fold(steps: readonly Step[], decoder: PieceDecoder): Map<string, WantedMessage> {
  let wanted = new Map<string, WantedMessage>();
  let before: ListEntry[] | undefined;
  let unnamed = new UnnamedMessages();
  for (const step of steps) {
    const entries = decoder.entriesOf(step.messages);
    const added = addedMessages(decoder, before, entries);
    const messages = added ?? allMessages(decoder, step);
    unnamed = added ? unnamed.grown() : unnamed.changed();
    const held = hold(wanted, step, messages, unnamed);
    if (!added) wanted = inOrderOf(held, wanted, step);
    before = entries;
  }
  return wanted;
}

/** Those that the step's state holds as it has them, each followed by what followed it and has left. */
function inOrderOf(
  held: ReadonlySet<string>,
  wanted: ReadonlyMap<string, WantedMessage>,
  step: Step,
): Map<string, WantedMessage> {
  const left = new Map<string | undefined, WantedMessage[]>();
  let place: string | undefined;
  for (const one of wanted.values()) {
    if (held.has(one.id)) place = one.id;
    else {
      one.left_state ??= step.checkpoint_id;
      const behind = left.get(place);
      if (behind) behind.push(one);
      else left.set(place, [one]);
    }
  }
  const order = [undefined, ...held].flatMap((id) => {
    const one = id === undefined ? undefined : wanted.get(id);
    return [...(one ? [one] : []), ...(left.get(id) ?? [])];
  });
  return new Map(order.map((one) => [one.id, one]));
}

/** Undefined where all of them have to be looked at. */
function addedMessages(decoder: PieceDecoder, before: ListEntry[] | undefined, now: ListEntry[] | undefined) {
  const entries = before && now && addedTo(before, now);
  return entries && decoder.list(structuredClone(entries));
}

function allMessages(decoder: PieceDecoder, { messages }: Step): unknown[] {
  const list = messages === undefined ? [] : decoder.decode(structuredClone(messages));
  return Array.isArray(list) ? list : [];
}

/** Gives the ids of those that the step's state holds, of these messages. */
function hold(
  wanted: Map<string, WantedMessage>,
  step: Step,
  messages: readonly unknown[],
  unnamed: UnnamedMessages,
): Set<string> {
  const { checkpoint_id, run_id, ts } = step;
  const held = new Set<string>();
  messages.forEach((message) => {
    const fields = messageFieldsOf(message);
    const id = messageIdOf(message) ?? unnamed.idOf(fields, checkpoint_id);
    if (!fields) return;
    held.add(id);
    const known = wanted.get(id);
    if (known?.left_state) wanted.delete(id); // it is back, after all that is there
    wanted.set(
      id,
      known
        ? { ...known, ...fields, left_state: null }
        : { id, ...fields, checkpoint_id, run_id, left_state: null, created_at: ts },
    );
  });
  return held;
}

/** What tasks of the unfinished step have already said. */
function applyPending(
  wanted: Map<string, WantedMessage>,
  pending: readonly PendingWrite[],
  decoder: PieceDecoder,
  head: Step | undefined,
): WantedMessage[] {
  if (!head) return [...wanted.values()];
  const { run_id, ts } = head;
  for (const { task_id, value } of pending) {
    const written = decoder.decode(value);
    (Array.isArray(written) ? written : [written]).forEach((message, index) => {
      const fields = messageFieldsOf(message);
      if (!fields) return;
      const id = messageIdOf(message) ?? `${PENDING}${task_id}:${index}`;
      const known = wanted.get(id);
      wanted.set(
        id,
        known
          ? { ...known, ...fields }
          : { id, ...fields, checkpoint_id: null, run_id, left_state: null, created_at: ts },
      );
    });
  }
  return [...wanted.values()];
}

/**
 * Rows that no checkpoint ever held and that are somebody's all the same: a user's message whose run has not put it into
 * the state, or never could; and what was written to the session outside of any run. They stay, after the rest.
 */
function unprojected(existing: readonly MessageRow[], wanted: readonly WantedMessage[]): MessageRow[] {
  const ids = new Set(wanted.map(({ id }) => id));
  return existing.filter(
    ({ id, role, run_id, checkpoint_id }) =>
      !ids.has(id) && checkpoint_id === null && (role === "user" || run_id === null) && !id.startsWith(PENDING),
  );
}
