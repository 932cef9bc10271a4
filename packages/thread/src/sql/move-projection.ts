import type { Channels } from "../checkpoint/checkpoint-body.ts";
import { parseBody } from "../checkpoint/checkpoint-body.ts";
import { findCheckpoint } from "../checkpoint/fork-checkpoint.ts";
import { listNumbers } from "../checkpoint/list-pieces.ts";
import { messageIdOf } from "../checkpoint/message-fields.ts";
import { PieceDecoder } from "../checkpoint/piece-decoder.ts";
import { MESSAGES } from "../checkpoint/project-checkpoint.ts";
import { PENDING } from "../checkpoint/projection-statements.ts";
import { asList } from "../checkpoint/timeline-read.ts";
import type { Way } from "./ancestry.ts";
import type { SqlContext } from "./context.ts";
import { countInherited } from "./inherit-messages.ts";
import { rebuildMessages } from "./message-projection.ts";
import { all, changes, first, rows, statement, type Tx } from "./statement.ts";

export interface Move {
  session_id: string;
  thread: number;
  lineage: number;
  from: string | null;
  to: string | null;
  way: Way;
}

/**
 * Makes the message rows follow from one checkpoint to another. Where both only added to what they have in common, as
 * nearly always, only those rows are touched, however long the conversation is; else all are worked out anew.
 */
export function* moveProjection(ctx: SqlContext, move: Move): Tx<void> {
  // A fork without rows needs none for this; they are made from its head when somebody asks for them.
  if (yield* inherits(ctx, move.session_id)) {
    yield* countInherited(ctx, move.session_id, yield* countAt(ctx, move));
    return;
  }
  const moved = yield* moveTail(ctx, move);
  if (!moved) yield* rebuildMessages(ctx, move.session_id);
}

function* inherits({ db }: SqlContext, session_id: string): Tx<boolean> {
  const row = yield* first(db.q.selectFrom("sessions").select("inherits").where("id", "=", session_id));
  return row?.inherits === 1;
}

function* countAt({ db }: SqlContext, { thread, lineage, to }: Move): Tx<number> {
  if (to === null) return 0;
  const { body } = yield* findCheckpoint(db, thread, to);
  const [numbers] = yield* listNumbers(db, lineage, [parseBody(body, to).channels[MESSAGES]?.[1]]);
  return numbers?.length ?? 0;
}

function* moveTail(ctx: SqlContext, { session_id, thread, lineage, from, to, way }: Move): Tx<boolean> {
  const { db } = ctx;
  if (from === null || to === null || way.common === undefined) return false;
  const lists = [];
  for (const id of [way.common, from, to]) {
    const { body } = yield* findCheckpoint(db, thread, id);
    const { channels }: { channels: Channels } = parseBody(body, `Checkpoint ${id}`);
    lists.push(channels[MESSAGES]?.[1]);
  }
  const [common, before, after] = yield* listNumbers(db, lineage, lists);
  if (!common || !before || !after || !isPrefix(common, before) || !isPrefix(common, after)) return false;
  const decoder = new PieceDecoder(db, lineage, `Session ${session_id}`);
  const tail = asList([...common.slice(-1), ...after.slice(common.length)]);
  yield* decoder.fetching([tail]);
  const ids = (decoder.decode(tail) as unknown[]).map(messageIdOf);
  if (ids.some((id) => id === undefined)) return false;
  const [last, ...redone] = common.length > 0 ? ids : [undefined, ...ids];
  return yield* replaceTail(ctx, session_id, last, redone as string[]);
}

function isPrefix(start: readonly number[], whole: readonly number[]): boolean {
  return start.length <= whole.length && start.every((number, i) => number === whole[i]);
}

/** After the last common message come the redone ones, and after them what no checkpoint holds yet. */
function* replaceTail(
  ctx: SqlContext,
  session_id: string,
  last: string | undefined,
  redone: readonly string[],
): Tx<boolean> {
  const { q } = ctx.db;
  const ofSession = q.selectFrom("messages").where("session_id", "=", session_id);
  const anchor = last === undefined ? undefined : yield* first(ofSession.select(["position"]).where("id", "=", last));
  if (last !== undefined && !anchor?.position) return false;
  const start = anchor?.position ?? 0;
  const tail = yield* rows(
    ofSession.select(["pk", "id", "checkpoint_id", "role", "run_id"]).where("position", ">", start).orderBy("position"),
  );
  const known =
    redone.length === 0 ? [] : yield* rows(ofSession.select(["pk", "id", "left_state"]).where("id", "in", redone));
  if (known.length < redone.length || known.some(({ left_state }) => left_state !== null)) return false;
  const back = new Set(redone);
  // Rows that were pending are only pending's; a rebuild knows what becomes of them.
  if (
    tail.some(
      ({ id, checkpoint_id, role, run_id }) =>
        id.startsWith(PENDING) || (checkpoint_id === null && role !== "user" && run_id !== null && !back.has(id)),
    )
  )
    return false;
  const inputs = tail.filter(({ id, checkpoint_id }) => checkpoint_id === null && !back.has(id));
  const places = [...redone, ...inputs.map(({ id }) => id)];
  const gone = tail.filter(({ id }) => !places.includes(id));
  const place = (id: string, position: number | null) =>
    statement(q.updateTable("messages").set({ position }).where("session_id", "=", session_id).where("id", "=", id));
  yield* all(gone.map(({ id }) => place(id, null)));
  yield* all(places.map((id, i) => place(id, start + i + 1)));
  const delta = places.length - tail.length;
  yield* changes(
    q
      .updateTable("sessions")
      .set((eb) => ({ message_count: eb("message_count", "+", delta) }))
      .where("id", "=", session_id),
  );
  return true;
}
