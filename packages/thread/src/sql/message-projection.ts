import type { Message } from "@cognition/contract";
import { parseBody } from "../checkpoint/checkpoint-body.ts";
import type { JsonValue } from "../checkpoint/json-value.ts";
import { addedTo, type ListEntry } from "../checkpoint/list-entries.ts";
import { type MessageFields, messageFieldsOf, messageIdOf } from "../checkpoint/message-fields.ts";
import { PieceDecoder } from "../checkpoint/piece-decoder.ts";
import { MESSAGES } from "../checkpoint/project-checkpoint.ts";
import { PENDING } from "../checkpoint/projection-statements.ts";
import { parseJson } from "../checkpoint/serializer.ts";
import type { MessageStore, RebuildReport } from "../message-store.ts";
import type { SqlContext } from "./context.ts";
import { placeholders } from "./dialect.ts";
import { inheritMessages } from "./inherit-messages.ts";
import { storedJson } from "./json-text.ts";
import { keptMetadata, type MessageRow } from "./message-row.ts";
import { readAhead } from "./read-ahead.ts";
import { inPortions, textByRows, valuesTable } from "./row-portions.ts";
import { all, first, rows, type Statement, statement, type Tx } from "./statement.ts";
import { UnnamedMessages } from "./unnamed-messages.ts";
import { writeThread } from "./write-thread.ts";

/** The conversation along the head's ancestry, as rows should have it. */
interface Wanted extends MessageFields {
  id: string;
  /** The first that holds it; null while it is only pending, since the one that will hold it is not there yet. */
  checkpoint_id: string | null;
  run_id: string | null;
  left_state: string | null;
  created_at: string;
}

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
  return yield* makeEqual(ctx, { session_id, scope: thread.scope, existing, wanted, inputs, ancestry, checkpoints });
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
function fold(steps: readonly Step[], decoder: PieceDecoder): Map<string, Wanted> {
  let wanted = new Map<string, Wanted>();
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
function inOrderOf(held: ReadonlySet<string>, wanted: ReadonlyMap<string, Wanted>, step: Step): Map<string, Wanted> {
  const left = new Map<string | undefined, Wanted[]>();
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
  wanted: Map<string, Wanted>,
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
  wanted: Map<string, Wanted>,
  pending: readonly PendingWrite[],
  decoder: PieceDecoder,
  head: Step | undefined,
): Wanted[] {
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
function unprojected(existing: readonly MessageRow[], wanted: readonly Wanted[]): MessageRow[] {
  const ids = new Set(wanted.map(({ id }) => id));
  return existing.filter(
    ({ id, role, run_id, checkpoint_id }) =>
      !ids.has(id) && checkpoint_id === null && (role === "user" || run_id === null) && !id.startsWith(PENDING),
  );
}

interface Difference {
  session_id: string;
  scope: string;
  existing: readonly MessageRow[];
  wanted: readonly Wanted[];
  inputs: readonly MessageRow[];
  /** The checkpoints that lead to the head, oldest first, and all that the thread has. */
  ancestry: ReadonlySet<string>;
  checkpoints: ReadonlySet<string>;
}

function* makeEqual(ctx: SqlContext, difference: Difference): Tx<RebuildReport> {
  const { q } = ctx.db;
  const { session_id, scope, existing, wanted, inputs, checkpoints } = difference;
  const report: RebuildReport = { checked: existing.length, repaired: 0, added: 0, removed: 0 };
  const { history, removed } = yield* sortOut(ctx, difference);
  report.removed = removed;
  const known = new Map(existing.map((row) => [row.id, row]));
  const places = placesOf([...history, ...wanted, ...inputs], wanted.length + inputs.length, known);
  let parent_id: string | null = history.at(-1)?.id ?? null;
  // All at once: of a long conversation, a round trip for each of them would take seconds.
  const writes: Statement[] = [];
  const moved: Moved[] = [];
  for (const one of wanted) {
    const row = known.get(one.id);
    const position = places.get(one.id) as number;
    if (!row) {
      const added = { ...one, session_id, scope, position, parent_id };
      writes.push(statement(q.insertInto("messages").values(added)));
      report.added++;
    } else {
      const { position: _, ...right } = repairOf(row, one, position, checkpoints);
      const repair = change(ctx, row, right);
      writes.push(...repair);
      if (row.position !== position) moved.push([row.pk, position]);
      if (repair.length > 0 || row.position !== position) report.repaired++;
    }
    parent_id = one.id;
  }
  for (const { pk, id, position } of [...history, ...inputs]) {
    const place = places.get(id) as number;
    if (position !== place) moved.push([pk, place]);
  }
  yield* all([...writes, ...movements(ctx, moved)]);
  const message_count = places.size;
  yield* all([statement(q.updateTable("sessions").set({ message_count }).where("id", "=", session_id))]);
  return report;
}

/** Where each stands: as it is, if that is the right order already. Before it all, what is only known from its row. */
function placesOf(
  order: readonly { id: string }[],
  ofState: number,
  known: ReadonlyMap<string, MessageRow>,
): Map<string, number> {
  const kept = order.map(({ id }) => known.get(id)?.position ?? 0);
  const state = kept.slice(-ofState || kept.length);
  const inOrder = kept.every((place) => place > 0) && state.every((place, i) => i === 0 || place > (state[i - 1] ?? 0));
  return new Map(order.map(({ id }, i) => [id, inOrder ? (kept[i] as number) : i + 1]));
}

/**
 * Rows that the head's ancestry doesn't account for. One that was in the state before the oldest checkpoint which is
 * left of it is history. One of another branch loses its place, and stays readable by its id. All others are foreign.
 */
function* sortOut(ctx: SqlContext, difference: Difference): Tx<{ history: MessageRow[]; removed: number }> {
  const { existing, wanted, inputs, ancestry, checkpoints } = difference;
  const staying = new Set([...wanted, ...inputs].map(({ id }) => id));
  const [oldest] = ancestry;
  const history: MessageRow[] = [];
  const writes: Statement[] = [];
  let removed = 0;
  for (const row of existing.filter(({ id, position }) => !staying.has(id) && position !== null)) {
    const { left_state, checkpoint_id } = row;
    if (left_state !== null && (left_state === oldest || !checkpoints.has(left_state))) history.push(row);
    else if (checkpoint_id !== null && !ancestry.has(checkpoint_id))
      writes.push(...change(ctx, row, { position: null }));
    else {
      writes.push(statement(ctx.db.q.deleteFrom("messages").where("pk", "=", row.pk)));
      removed++;
    }
  }
  yield* all(writes);
  return { history, removed };
}

type Moved = readonly [pk: number, position: number];

/** Many rows in a statement: of a fork's messages all have to get their places. */
function movements({ db: { dialect } }: SqlContext, moved: readonly Moved[]): Statement[] {
  return Array.from(inPortions(moved), (portion) => ({
    sql: MOVE(dialect, portion.length),
    params: portion.flat(),
    prepare: true,
  }));
}

const MOVE = textByRows(
  (
    dialect,
    rows,
  ) => `update messages set position = v.column2 from ${valuesTable(dialect, rows, ["bigint", "bigint"])} v
    where messages.pk = v.column1`,
);

/** None if the row has it all already. */
function change({ db }: SqlContext, row: MessageRow, right: Partial<MessageRow>): Statement[] {
  if (Object.entries(right).every(([key, value]) => row[key as keyof MessageRow] === value)) return [];
  return [statement(db.q.updateTable("messages").set(right).where("pk", "=", row.pk))];
}

/** The row as it should be. What only the row knows (its times, its usage, a checkpoint that was pruned) stays. */
function repairOf(
  row: MessageRow,
  wanted: Wanted,
  position: number,
  checkpoints: ReadonlySet<string>,
): Partial<MessageRow> {
  const wasPruned = row.checkpoint_id !== null && !checkpoints.has(row.checkpoint_id);
  return {
    position,
    role: wanted.role as Message["role"],
    content: wanted.content,
    tool_calls: wanted.tool_calls,
    tool_call_id: wanted.tool_call_id,
    token_count: wanted.token_count ?? row.token_count,
    model_used: wanted.model_used ?? row.model_used,
    metadata: keptMetadata(row, wanted.metadata),
    run_id: row.run_id ?? wanted.run_id,
    checkpoint_id: wasPruned ? row.checkpoint_id : wanted.checkpoint_id,
    left_state: wanted.left_state,
  };
}
