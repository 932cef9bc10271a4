import { AppError, type Message, type Session } from "@cognition/contract";
import { EMPTY_TREE, type Storage, type TimelineEntry } from "@cognition/thread";

/** Where to go: a checkpoint, or before the first one; and the files as they are to be. */
export interface Place {
  checkpoint_id: string | null;
  snapshot_id: string | null;
  /** The checkpoint that artifacts and memory are to be as at, if it is another one. */
  written_at?: string;
}

export interface PlaceName {
  checkpoint_id?: string | undefined;
  message_id?: string | undefined;
  last?: "tool" | "turn" | undefined;
}

type SessionId = Pick<Session, "id">;
type Timed = Pick<Storage, "timeline">;
type Parts = Timed & Pick<Storage, "getMessage" | "getMessagesBySession">;

const PAGE = 100;
/** Nearly always the first of them is the one. */
const FEW = 5;

/** The head if nothing is named. */
export async function findPlace(storage: Parts, session: SessionId, name: PlaceName): Promise<Place | undefined> {
  if (name.checkpoint_id !== undefined) return at(await entryAt(storage, session, name.checkpoint_id));
  if (name.message_id !== undefined) return afterMessage(storage, session, name.message_id);
  if (name.last === "turn") return beforeLastTurn(storage, session);
  if (name.last === "tool") return beforeLastTool(storage, session);
  return headPlace(storage, session);
}

export async function entryAt(storage: Timed, session: SessionId, checkpoint_id: string): Promise<TimelineEntry> {
  const entry = await findEntry(storage, session, checkpoint_id);
  if (entry) return entry;
  const { id } = session;
  const message = `Session ${id} has no checkpoint ${checkpoint_id}: it never had, or it was pruned. Nothing was changed.`;
  throw new AppError("checkpoint_not_found", message);
}

/**
 * The files of that point; none of a session that never had any. What is not stored must not look as if there had been
 * nothing.
 */
export async function filesAt(
  { snapshots }: Pick<Storage, "snapshots">,
  { thread_id }: Pick<Session, "thread_id">,
  { snapshot_id }: Pick<Place, "snapshot_id">,
  instead: string,
): Promise<string> {
  if (snapshot_id !== null) return snapshot_id;
  if ((await snapshots.currentSnapshot(thread_id)) === null) return EMPTY_TREE;
  const message =
    "The files of that point are not stored: they were let go to keep within the quota, or the point is from a time " +
    `before files were. ${instead}`;
  throw new AppError("snapshot_not_found", message);
}

/** The checkpoint that leads to a point of the conversation. */
async function entryOf(storage: Timed, session: SessionId, checkpoint_id: string, point: string) {
  const entry = await findEntry(storage, session, checkpoint_id);
  if (!entry) throw isGone(session, point);
  return entry;
}

export async function findEntry(
  { timeline }: Timed,
  { id }: SessionId,
  checkpoint_id: string,
): Promise<TimelineEntry | undefined> {
  const [entry] = await timeline.readTimeline(id, { checkpoint_ids: [checkpoint_id], limit: 1 });
  return entry;
}

/** The newest root checkpoint is the head. */
export async function findHead({ timeline }: Timed, { id }: SessionId): Promise<TimelineEntry | undefined> {
  const [newest] = await timeline.readTimeline(id, { limit: 1 });
  return newest;
}

function at({ checkpoint_id, snapshot_id }: TimelineEntry): Place {
  return { checkpoint_id, snapshot_id };
}

/**
 * Just before the message that follows, when everything that belongs to this one is done; where none follows, the head. Of
 * another branch the first checkpoint that holds it is known.
 */
export async function afterMessage(storage: Parts, session: SessionId, message_id: string): Promise<Place> {
  const message = await storage.getMessage(message_id, { session_id: session.id });
  if (!message) throw new AppError("message_not_found", `There is no message ${message_id} in session ${session.id}`);
  if (message.checkpoint_id === null) throw inNoCheckpoint(message_id);
  return (
    (await onTheHeadsBranch(storage, session, message)) ??
    at(await entryOf(storage, session, message.checkpoint_id, `after message ${message_id}`))
  );
}

async function onTheHeadsBranch(storage: Parts, session: SessionId, { id }: Message): Promise<Place | undefined> {
  for (let offset = 0, next: Message | undefined; ; offset += PAGE) {
    const { messages, total } = await storage.getMessagesBySession(session.id, { limit: PAGE, offset, order: "desc" });
    for (const message of messages) {
      if (message.id === id) return next ? beforeMessage(storage, session, next) : headPlace(storage, session);
      if (message.checkpoint_id !== null) next = message;
    }
    if (offset + messages.length >= total) return undefined;
  }
}

async function headPlace(storage: Timed, session: SessionId): Promise<Place | undefined> {
  const head = await findHead(storage, session);
  return head && at(head);
}

/** Of the input that a thread begins with. */
const FIRST_STEP = -1;

/**
 * The checkpoint before the first that holds it. An input that a run was given is part of what follows; what people did to
 * files and artifacts before they gave it is not, and only the input's own checkpoint comes after that. Where one of these was
 * pruned, the one before it is not the place: more would be undone than was asked for.
 */
async function beforeMessage(storage: Parts, session: SessionId, { id, checkpoint_id, role }: Message): Promise<Place> {
  const point = `before message ${id}`;
  let entry = await entryOf(storage, session, checkpoint_id ?? "", point);
  for (;;) {
    if (entry.parent_id === null) {
      if (entry.step > FIRST_STEP) throw isGone(session, point);
      return { checkpoint_id: null, snapshot_id: entry.snapshot_id };
    }
    const before = await entryOf(storage, session, entry.parent_id, point);
    if (before.step !== entry.step - 1) throw isGone(session, point);
    if (before.source !== "input") {
      if (role !== "user") return at(before);
      const { checkpoint_id: written_at, snapshot_id } = entry;
      return { checkpoint_id: before.checkpoint_id, snapshot_id, written_at };
    }
    entry = before;
  }
}

async function beforeLastTurn(storage: Parts, session: SessionId): Promise<Place> {
  return beforeMessage(storage, session, await newestOf(storage, session, "user", "message"));
}

/** The last checkpoint on the head's branch at which the model had called tools and none of them had run. */
async function beforeLastTool(storage: Parts, session: SessionId): Promise<Place> {
  return beforeMessage(storage, session, await newestOf(storage, session, "tool", "tool action"));
}

/** Past those that no checkpoint holds: nothing ever came of a message whose run was aborted before its turn. */
async function newestOf(storage: Parts, session: SessionId, role: Message["role"], what: string): Promise<Message> {
  for (let offset = 0; ; offset += FEW) {
    const { messages, total } = await storage.getMessagesBySession(session.id, { limit: FEW, offset, role });
    const held = messages.find(({ checkpoint_id }) => checkpoint_id !== null);
    if (held) return held;
    if (offset + messages.length >= total) throw nothingToRewind(session, what);
  }
}

function inNoCheckpoint(message_id: string): AppError {
  const text = `Message ${message_id} is in no checkpoint: its run has not taken it up. Nothing was changed.`;
  return new AppError("checkpoint_not_found", text);
}

function isGone({ id }: SessionId, point: string): AppError {
  const text =
    `The point ${point} of session ${id} is gone: it was pruned, or deleted with the session that this one was forked from. ` +
    "Nothing was changed; the session's checkpoints are the points that are left.";
  return new AppError("checkpoint_not_found", text);
}

function nothingToRewind({ id }: SessionId, what: string): AppError {
  return new AppError("nothing_to_rewind", `Session ${id} has no ${what} to undo; nothing was changed`);
}
