import { AppError, type Session } from "@cognition/contract";
import { parseBody } from "../checkpoint/checkpoint-body.ts";
import { copyThreadBody } from "../checkpoint/copy-thread.ts";
import { findCheckpoint } from "../checkpoint/fork-checkpoint.ts";
import { listNumbers } from "../checkpoint/list-pieces.ts";
import { MESSAGES } from "../checkpoint/project-checkpoint.ts";
import { EMPTY_TREE } from "../snapshot/tree.ts";
import type { Fork } from "../timeline-store.ts";
import type { SqlContext } from "./context.ts";
import { selectSessions, toSession } from "./session-row.ts";
import { sessionNotFound } from "./session-store.ts";
import { moveWorkspace, requireStored } from "./snapshot-store.ts";
import { all, changes, first, statement, type Tx } from "./statement.ts";

/** What was pending at the checkpoint stays behind: its files do not have it, and the fork does it anew. */
export function* forkSession(ctx: SqlContext, fork: Fork): Tx<Session> {
  const { db, now, newId } = ctx;
  const { q } = db;
  const parent = yield* first(q.selectFrom("sessions").selectAll().where("id", "=", fork.session_id));
  if (!parent) throw sessionNotFound(fork.session_id);
  const source = yield* first(
    q.selectFrom("threads").select(["pk", "head", "lineage"]).where("thread_id", "=", parent.thread_id),
  );
  const checkpoint_id = fork.checkpoint_id ?? source?.head;
  if (!source || !checkpoint_id) {
    const message = `Session ${fork.session_id} has no checkpoint yet, so there is nothing to fork. Send it a message first.`;
    throw new AppError("checkpoint_not_found", message);
  }
  const { body } = yield* findCheckpoint(db, source.pk, checkpoint_id);
  const { channels } = parseBody(body, `Checkpoint ${checkpoint_id}`);
  const [numbers] = yield* listNumbers(db, source.lineage ?? source.pk, [channels[MESSAGES]?.[1]]);
  const [id, thread_id, created_at] = [fork.id ?? newId(), newId(), now()];
  if (fork.id !== undefined) yield* refuseTaken(ctx, id);
  yield* copyThreadBody(ctx, parent.thread_id, thread_id, { checkpoint_id });
  const thread = yield* dropPending(ctx, thread_id, checkpoint_id);
  yield* giveFiles(ctx, fork, { ...thread, scope: parent.scope, checkpoint_id, updated_at: created_at });
  const { pk: _, user_id, scope, config, metadata } = parent;
  const own = {
    id,
    thread_id,
    scope,
    mode: fork.mode ?? parent.mode,
    config,
    metadata,
    user_id,
    status: "active",
    created_at,
    updated_at: created_at,
  };
  const from = { parent_session_id: parent.id, parent_checkpoint_id: checkpoint_id };
  const session = {
    ...own,
    ...from,
    title: fork.title === undefined ? parent.title : fork.title,
    agent_name: fork.agent_name ?? parent.agent_name,
    workspace_path: null,
    message_count: numbers?.length ?? 0,
    inherits: 1,
  };
  yield* changes(q.insertInto("sessions").values(session));
  const row = yield* first(selectSessions(db).where("s.id", "=", id));
  if (!row) throw new AppError("internal", `Session ${id} was stored and can't be found`);
  return toSession(row);
}

interface Beginning {
  pk: number;
  snapshot: string | null;
  scope: string;
  checkpoint_id: string;
  updated_at: string;
}

function* giveFiles(ctx: SqlContext, { files, snapshot_id: given, objects = [] }: Fork, at: Beginning): Tx<void> {
  const { pk: thread, snapshot, scope, checkpoint_id, updated_at } = at;
  if (!files) {
    yield* leaveFiles(ctx, thread, checkpoint_id);
    return;
  }
  if (given !== undefined) yield* requireStored(ctx.db, scope, [given, ...objects]);
  const snapshot_id = given ?? snapshot;
  if (snapshot_id !== null) yield* moveWorkspace(ctx.db, { thread, scope, snapshot_id, updated_at });
}

/** Where it begins it has no files: else all of them would look as if somebody had taken them away since. */
function* leaveFiles({ db }: SqlContext, thread: number, checkpoint_id: string): Tx<void> {
  const begun = db.q.updateTable("checkpoints").set({ snapshot: EMPTY_TREE }).where("thread", "=", thread);
  const stored = begun.where("ns", "=", "").where("checkpoint_id", "=", checkpoint_id);
  yield* changes(stored.where("snapshot", "is not", null));
}

function* refuseTaken({ db }: SqlContext, id: string): Tx<void> {
  const known = yield* first(db.q.selectFrom("sessions").select("id").where("id", "=", id));
  if (known) throw new AppError("already_exists", `There is a session ${id} already; nothing was stored`);
}

/** A delta channel's value is in the writes of the checkpoints before this one: those stay. */
function* dropPending(
  { db }: SqlContext,
  thread_id: string,
  checkpoint_id: string,
): Tx<{ pk: number; snapshot: string | null }> {
  const { q } = db;
  const row = yield* first(
    q
      .selectFrom("threads as t")
      .innerJoin("checkpoints as c", "c.thread", "t.pk")
      .select(["t.pk", "c.snapshot"])
      .where("t.thread_id", "=", thread_id)
      .where("c.ns", "=", "")
      .where("c.checkpoint_id", "=", checkpoint_id),
  );
  if (!row) throw new AppError("internal", `Thread ${thread_id} was copied and can't be found`);
  const ofThread = q.deleteFrom("checkpoint_writes").where("thread", "=", row.pk);
  yield* all([
    statement(ofThread.where("ns", "=", "").where("checkpoint_id", "=", checkpoint_id)),
    statement(ofThread.where("ns", "like", "%:%")),
    statement(q.deleteFrom("checkpoints").where("thread", "=", row.pk).where("ns", "like", "%:%")),
  ]);
  return row;
}
