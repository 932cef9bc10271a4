import { AppError, type StoredEvent } from "@cognition/contract";
import { findCheckpoint, forkCheckpoint } from "../checkpoint/fork-checkpoint.ts";
import type { Stands, Written } from "../checkpoint/stands.ts";
import { EMPTY_TREE } from "../snapshot/tree.ts";
import type { Rewind } from "../timeline-store.ts";
import { readAncestors, readWay, type Way } from "./ancestry.ts";
import type { SqlContext } from "./context.ts";
import { insertEvents, storedEvents } from "./event-rows.ts";
import { ONE } from "./limit.ts";
import { moveProjection } from "./move-projection.ts";
import { rewindArtifacts } from "./rewind-artifacts.ts";
import { rewindMemory } from "./rewind-memory.ts";
import { IS_OPEN } from "./run-row.ts";
import { sealHead } from "./seal-head.ts";
import { sessionNotFound } from "./session-store.ts";
import { moveWorkspace, requireStored } from "./snapshot-store.ts";
import { all, changes, first, type Tx } from "./statement.ts";
import { advanceThread } from "./thread-row.ts";

export interface Rewound {
  head: string;
  previous_head: string | null;
  events: StoredEvent[];
}

const EVERY = 1_000_000_000;

/** The caller holds the thread's row, so that no run is admitted and no checkpoint written in between. */
export function* rewindSession(ctx: SqlContext, rewind: Rewind): Tx<Rewound> {
  const { db, now } = ctx;
  const { session_id, checkpoint_id } = rewind;
  const place = yield* findPlace(ctx, session_id);
  yield* refuseWhileBusy(ctx, session_id);
  const stood = place.snapshot_id ?? EMPTY_TREE;
  refuseMoved(rewind, place.head, stood);
  if (checkpoint_id !== null) yield* findCheckpoint(db, place.pk, checkpoint_id);
  place.head = yield* seal(ctx, place, rewind);
  const way = yield* wayTo(ctx, place, checkpoint_id);
  const target = rewind.conversation ? checkpoint_id : place.head;
  const written = rewind.written_at ?? checkpoint_id;
  const snapshot = rewind.snapshot_id ?? stood;
  const head = yield* forkCheckpoint(db, {
    thread: place.pk,
    checkpoint_id: target,
    snapshot,
    ...(written !== target && { stands: standsOf(rewind, written) }),
  });
  if (rewind.snapshot_id !== undefined) {
    const { pk: thread, scope } = place;
    const snapshot_id = rewind.files_stand_at ?? rewind.snapshot_id;
    yield* requireStored(db, scope, [rewind.snapshot_id, snapshot_id]);
    yield* moveWorkspace(db, { thread, scope, snapshot_id, updated_at: now() });
  }
  const { pk: thread, head: from } = place;
  const lineage = place.lineage ?? place.pk;
  if (rewind.conversation) yield* moveProjection(ctx, { session_id, thread, lineage, from, to: checkpoint_id, way });
  if (rewind.artifacts) {
    const back = yield* wayTo(ctx, place, written, "artifacts");
    yield* rewindArtifacts(ctx, { session_id, thread, from, to: written, way: back, head });
  }
  if (rewind.memory) yield* rewindMemory(ctx, thread, from, yield* wayTo(ctx, place, written, "memory"));
  if (rewind.mode) {
    yield* changes(db.q.updateTable("sessions").set({ mode: rewind.mode }).where("id", "=", session_id));
  }
  const data = { head, previous_head: from };
  const batch = { session_id, run_id: null, events: [{ event: "head_moved" as const, data }], created_at: now() };
  const advance = advanceThread(db, { session_id }, { events: 1 });
  const [counted] = yield* all([advance, ...insertEvents(db.dialect, batch)]);
  return { head, previous_head: from, events: storedEvents(batch, counted?.rows[0]?.["event_seq"] as number) };
}

function standsOf({ artifacts, memory }: Rewind, written: string | null): Stands {
  const at = written ?? "";
  return { ...(artifacts && { artifacts: at }), ...(memory && { memory: at }) };
}

function* seal(ctx: SqlContext, place: Place, rewind: Rewind): Tx<string | null> {
  // What stays while the head moves on is written before the next head too.
  const { session_id } = rewind;
  const [artifacts = false, memory = false] = [rewind.artifacts, rewind.memory].map(
    (one) => one || !rewind.conversation,
  );
  const { pk: thread, head, snapshot_id } = place;
  if (head === null) return null;
  return yield* sealHead(ctx, { session_id, thread, head, snapshot: snapshot_id ?? EMPTY_TREE, artifacts, memory });
}

interface Place {
  pk: number;
  head: string | null;
  lineage: number | null;
  scope: string;
  snapshot_id: string | null;
}

function* findPlace({ db }: SqlContext, session_id: string): Tx<Place> {
  const query = db.q
    .selectFrom("sessions as s")
    .innerJoin("threads as t", "t.thread_id", "s.thread_id")
    .leftJoin("workspaces as w", "w.thread", "t.pk")
    .select(["t.pk", "t.head", "t.lineage", "s.scope", "w.snapshot_id"])
    .where("s.id", "=", session_id);
  const place = yield* first(query);
  if (!place) throw sessionNotFound(session_id);
  return place;
}

function* refuseWhileBusy({ db }: SqlContext, session_id: string): Tx<void> {
  const query = db.q.selectFrom("runs").select(["id", "status"]).where("session_id", "=", session_id).where(IS_OPEN);
  const open = yield* first(query.orderBy("pk").limit(ONE));
  if (!open) return;
  const waits = open.status === "waiting_for_approval";
  throw new AppError(
    waits ? "waiting_for_approval" : "session_busy",
    `Session ${session_id} ${waits ? "waits for an answer to" : "is busy with"} run ${open.id}; nothing was changed. ` +
      "Abort it, or wait for its end.",
    { details: { run_id: open.id } },
  );
}

function refuseMoved({ session_id, ...expected }: Rewind, head: string | null, stood: string): void {
  const again = "in the meantime; nothing was changed. Look again, then decide.";
  if (head !== expected.expected_head)
    throw new AppError("version_conflict", `Session ${session_id} has moved on to ${head} ${again}`, {
      details: { head },
    });
  if ((expected.expected_snapshot ?? stood) !== stood)
    throw new AppError("version_conflict", `Files of session ${session_id} were changed ${again}`);
}

/** Before the first checkpoint: everything is undone. */
function* wayTo({ db }: SqlContext, { pk, head }: Place, to: string | null, of?: Written): Tx<Way> {
  if (head === null) return { common: undefined, undone: [], redone: [] };
  if (to !== null) return yield* readWay(db, pk, head, to, of);
  return { common: undefined, undone: yield* readAncestors(db, pk, head, EVERY, of), redone: [] };
}
