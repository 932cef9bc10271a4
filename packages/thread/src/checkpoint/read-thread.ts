import type { CheckpointTuple } from "@langchain/langgraph-checkpoint";
import type { Database } from "../sql/database.ts";
import type { Place } from "./checkpoint-place.ts";
import { PieceDecoder } from "./piece-decoder.ts";
import { MESSAGES } from "./project-checkpoint.ts";
import {
  addParentSends,
  type CheckpointRow,
  namedValues,
  parseStored,
  readWhole,
  type StoredCheckpoint,
  selectCheckpoint,
  toTuple,
  type WriteRow,
} from "./read-checkpoint.ts";
import type { ThreadWriter } from "./thread-writer.ts";

/** A checkpoint, all of it. The thread's writer learns where the thread stands and which objects are stored already. */
export function readThread(db: Database, thread: ThreadWriter, place: Place): Promise<CheckpointTuple | undefined> {
  return readWhole(
    db,
    () => load(db, thread, place),
    (stored) => decode(db, thread, stored),
  );
}

async function load(
  db: Database,
  thread: ThreadWriter,
  { thread_id, ns, checkpoint_id }: Place,
): Promise<StoredCheckpoint | undefined> {
  // A thread's session never changes; only, one that has none may get one.
  const ofSession = thread.session_id ? [] : [thread.selectSession()];
  const selects = selectCheckpoint(db.dialect, thread_id, ns, checkpoint_id);
  const [found, writes, session] = await db.readAll([...selects, ...ofSession]);
  const row = found?.rows[0] as unknown as CheckpointRow | undefined;
  if (session) await thread.noteSession(session);
  if (ns === "" && checkpoint_id === undefined && thread.isIdle) {
    thread.head = row?.checkpoint_id ?? null;
    thread.messages = row ? undefined : [];
    thread.shown = undefined;
  }
  if (!row) return undefined;
  const stored = parseStored(row, writes?.rows as unknown as WriteRow[]);
  await addParentSends(db, [stored]);
  return stored;
}

async function decode(db: Database, thread: ThreadWriter, stored: StoredCheckpoint): Promise<CheckpointTuple> {
  const { row, body } = stored;
  const memory = thread.memoryFor(row.generation);
  thread.rememberChannels(row.ns, row.checkpoint_id, structuredClone(body.channels), stored.writes.length > 0);
  const decoder = new PieceDecoder(db, row.lineage, `Thread ${row.thread_id}`, memory);
  await decoder.fetch(namedValues(stored));
  if (row.ns === "" && row.checkpoint_id === thread.head) {
    thread.messages = decoder.numbersOf(body.channels[MESSAGES]?.[1]);
  }
  return toTuple(stored, decoder);
}

/** Lets the writer know what a checkpoint's channels hold, so that the next one can take over what did not change. */
export async function loadChannels(
  db: Database,
  thread: ThreadWriter,
  { thread_id, ns, parent_id }: { thread_id: string; ns: string; parent_id: string },
): Promise<void> {
  const [found] = await db.readAll(selectCheckpoint(db.dialect, thread_id, ns, parent_id).slice(0, 1));
  const row = found?.rows[0] as unknown as CheckpointRow | undefined;
  if (!row) return;
  // The channels name pieces: they are good for this generation only.
  thread.memoryFor(row.generation);
  thread.rememberChannels(ns, parent_id, parseStored(row, []).body.channels, true);
}
