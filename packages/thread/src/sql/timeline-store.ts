import type { Message } from "@cognition/contract";
import { forkCheckpoint } from "../checkpoint/fork-checkpoint.ts";
import { MissingPiece } from "../checkpoint/piece-decoder.ts";
import { readMessagesAt, readTimeline } from "../checkpoint/timeline-read.ts";
import { EMPTY_TREE } from "../snapshot/tree.ts";
import type { TimelineStore } from "../timeline-store.ts";
import { readWay } from "./ancestry.ts";
import type { SqlContext } from "./context.ts";
import type { Database } from "./database.ts";
import { forkSession } from "./fork-session.ts";
import { makeCheckpointsInherited } from "./inherit-checkpoints.ts";
import { makeInherited } from "./inherit-messages.ts";
import { requireTexts } from "./input-checks.ts";
import { requireKnown } from "./known-names.ts";
import { advanceLeased, writeLeased } from "./lease-fence.ts";
import { atMost } from "./limit.ts";
import { heldIds } from "./message-projection.ts";
import { keptMetadata, type MessageRow, toMessage } from "./message-row.ts";
import { moveProjection } from "./move-projection.ts";
import { giveWayAfter, LONGEST_TURN_MS } from "./next-turn.ts";
import { pageBounds } from "./page-bounds.ts";
import { rewindSession } from "./rewind-session.ts";
import { checkFork } from "./session-input.ts";
import { all, first, type QueryResult, rows, type Tx } from "./statement.ts";
import { writeThread } from "./write-thread.ts";

/** Rows that are read at a time. */
const PORTION = 500;
const ROWS_EACH = atMost(PORTION);

export function createTimelineStore(ctx: SqlContext): TimelineStore {
  const { db } = ctx;
  return {
    readTimeline: async (session_id, page = {}) => {
      requireKnown("Checkpoints", page, ["limit", "before", "checkpoint_ids"]);
      const { limit, before, checkpoint_ids } = page;
      if (checkpoint_ids !== undefined) requireTexts("checkpoint_ids", checkpoint_ids);
      const bounds = pageBounds({ limit }, checkpoint_ids?.length ?? 50);
      const read = () =>
        reading(db, () => readTimeline(db, { session_id, limit: bounds.limit, before, checkpoint_ids }));
      const found = await read();
      if (!checkpoint_ids || found.length === checkpoint_ids.length) return found;
      await makeCheckpointsInherited(ctx, session_id, checkpoint_ids);
      return read();
    },
    rewindSession: async (rewind) => {
      const { session_id, checkpoint_id, written_at } = rewind;
      await makeCheckpointsInherited(
        ctx,
        session_id,
        [checkpoint_id, written_at].filter((id) => typeof id === "string"),
      );
      const { events, ...rewound } = await writeThread(db, { session_id }, () => rewindSession(ctx, rewind));
      ctx.feed.publish(session_id, events);
      return rewound;
    },
    forkSession: async (fork) => {
      checkFork(fork);
      const { session_id, checkpoint_id } = fork;
      if (checkpoint_id !== undefined) await makeCheckpointsInherited(ctx, session_id, [checkpoint_id]);
      return db.transaction(() => forkSession(ctx, fork));
    },
    messagesAt: async (session_id, checkpoint_id) => {
      await makeCheckpointsInherited(ctx, session_id, [checkpoint_id]);
      await makeInherited(ctx, session_id);
      return reading(db, () => messagesAt(ctx, session_id, checkpoint_id));
    },
    branchThread: (lease, checkpoint_id) =>
      writeLeased(db, lease, () =>
        db.transaction(function* () {
          const [fenced] = yield* all([advanceLeased(db, lease)]);
          return yield* branch(ctx, fenced?.rows[0]?.["pk"] as number, checkpoint_id);
        }),
      ),
  };
}

/** What was swept in between shows as a missing piece: then it is read anew, or is gone. A second time it is damage. */
async function reading<T>(db: Database, body: () => Tx<T>): Promise<T> {
  try {
    return await readInSteps(db, body);
  } catch (error) {
    if (!(error instanceof MissingPiece)) throw error;
    return readInSteps(db, body);
  }
}

/** The same steps as in a transaction, each on its own, with turns for others in between. */
async function readInSteps<T>(db: Database, body: () => Tx<T>): Promise<T> {
  const steps = body();
  let step = steps.next();
  while (!step.done) {
    await giveWayAfter(LONGEST_TURN_MS);
    const answers: readonly QueryResult[] = await db.readAll(step.value);
    step = steps.next(answers);
  }
  return step.value;
}

/** Rows know times and usage; a message whose row is gone is shown from the state alone. */
function* messagesAt(ctx: SqlContext, session_id: string, checkpoint_id: string): Tx<Message[]> {
  const { db } = ctx;
  const { messages: held, ts } = yield* readMessagesAt(db, session_id, checkpoint_id);
  if (held.length === 0) return [];
  const isUnnamed = ({ id }: { id: string }) => id.startsWith(`${checkpoint_id}:`);
  const named = new Set(held.flatMap((one) => (isUnnamed(one) ? [] : one.id)));
  // What has no id is called by the first checkpoint that held it.
  const ids = named.size < held.length ? yield* heldIds(ctx, session_id, checkpoint_id) : [];
  const unnamed = ids.filter((id) => !named.has(id));
  const messages = held.map((one) => (isUnnamed(one) ? { ...one, id: unnamed.shift() ?? one.id } : one));
  const known = yield* readRows(db, session_id);
  let parent_id: string | null = null;
  return messages.map(({ id, fields }) => {
    const row = known.get(id);
    const base = row && { ...row, left_state: null };
    const fresh = {
      ...{ pk: 0, session_id, scope: "", position: null, run_id: null, checkpoint_id },
      ...{ left_state: null, created_at: ts, parent_id, id },
    };
    const metadata = keptMetadata(row, fields?.metadata ?? "{}");
    const said = { ...(fields ?? { role: "user" }), metadata };
    const message = toMessage({ ...(base ?? fresh), ...said } as MessageRow);
    parent_id = id;
    return message;
  });
}

/** In portions, by the order of their ids: of a long session nobody waits for all of them. */
function* readRows({ q }: Database, session_id: string): Tx<Map<string, MessageRow>> {
  const known = new Map<string, MessageRow>();
  const portion = q
    .selectFrom("messages")
    .selectAll()
    .where("session_id", "=", session_id)
    .orderBy("id")
    .limit(ROWS_EACH);
  for (let last = ""; ; ) {
    const found = yield* rows(portion.where("id", ">", last));
    for (const row of found) known.set(row.id, row);
    const end = found.at(-1);
    if (!end || found.length < PORTION) return known;
    last = end.id;
  }
}

function* branch(ctx: SqlContext, thread: number, checkpoint_id: string): Tx<string> {
  const { db } = ctx;
  const place = yield* first(
    db.q
      .selectFrom("threads as t")
      .innerJoin("sessions as s", "s.thread_id", "t.thread_id")
      .leftJoin("workspaces as w", "w.thread", "t.pk")
      .select(["s.id", "t.head", "t.lineage", "w.snapshot_id"])
      .where("t.pk", "=", thread),
  );
  if (!place || place.head === null || place.head === checkpoint_id) return checkpoint_id;
  const way = yield* readWay(db, thread, place.head, checkpoint_id);
  const head = yield* forkCheckpoint(db, { thread, checkpoint_id, snapshot: place.snapshot_id ?? EMPTY_TREE });
  const lineage = place.lineage ?? thread;
  yield* moveProjection(ctx, { session_id: place.id, thread, lineage, from: place.head, to: checkpoint_id, way });
  return head;
}
