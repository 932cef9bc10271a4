import { AppError } from "@cognition/contract";
import type { RunnableConfig } from "@langchain/core/runnables";
import {
  BaseCheckpointSaver,
  type ChannelVersions,
  type Checkpoint,
  type CheckpointListOptions,
  type CheckpointMetadata,
  type CheckpointTuple,
  type DeltaChannelHistory,
  type PendingWrite,
  WRITES_IDX_MAP,
} from "@langchain/langgraph-checkpoint";
import type { NewEvent } from "../event-log.ts";
import type { SqlContext } from "../sql/context.ts";
import { bodyJson, encodeBody } from "./checkpoint-body.ts";
import { missing, type Place, placeOf, requirePlace, requireThreadId, threadIdOf } from "./checkpoint-place.ts";
import { copyThread } from "./copy-thread.ts";
import { deleteThread, removeRestNow } from "./delete-thread.ts";
import { deltaChannelHistory } from "./delta-history.ts";
import { encodeValue } from "./encode.ts";
import { handledLater } from "./handled-later.ts";
import { type Writer, type WriterLease, writerOf } from "./lease.ts";
import { listCheckpoints } from "./list-checkpoints.ts";
import { messageNumbers, projectRoot } from "./project-root.ts";
import { type PruneOptions, type PruneReport, prune } from "./prune.ts";
import { configOf } from "./read-checkpoint.ts";
import { ReadHeads } from "./read-heads.ts";
import { loadChannels, readThread } from "./read-thread.ts";
import { SeenHeads } from "./seen-heads.ts";
import { StrictSerializer, toBytes } from "./serializer.ts";
import { setThreadTtl, sweepExpired } from "./thread-ttl.ts";
import { ThreadWriter } from "./thread-writer.ts";
import { nextVersion } from "./version.ts";
import type { Encode, Urgency } from "./write-batch.ts";
import type { WriteOp } from "./write-op.ts";
import type { WriteInsert } from "./write-statements.ts";

export interface CheckpointSaverOptions {
  /** A thread that nobody has written to for so long is removed by `sweepExpired`. */
  ttl_ms?: number;
}

/** Whose writes they are; LangGraph tells its place in the step from 1.5 on. */
type Task = Pick<WriteInsert, "task_id" | "task_path">;

/** Threads whose pieces and channels this process remembers; the least recently used idle ones are forgotten. */
const THREADS_KNOWN = 1_000;

/**
 * LangGraph's checkpointer on our storage. A step costs what is new in it, however long the thread is; forks share
 * what they have in common; two writers on one thread never overwrite each other: the second is refused.
 */
export class CheckpointSaver extends BaseCheckpointSaver {
  readonly #ctx: SqlContext;
  readonly #options: CheckpointSaverOptions;
  readonly #threads = new Map<string, ThreadWriter>();
  readonly #seen = new SeenHeads();
  readonly #read = new ReadHeads();

  constructor(ctx: SqlContext, options: CheckpointSaverOptions = {}) {
    super(new StrictSerializer());
    this.#ctx = ctx;
    this.#options = options;
  }

  async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    const place = placeOf(config);
    if (!place) return undefined;
    const writer = writerOf(config);
    // What is on its way is part of where the thread stands. If that fails, its writer was told, and begins anew here.
    const thread = this.#thread(place.thread_id);
    if (writer.lease?.pipelined) await Promise.allSettled([thread.settled(writer)]);
    const tuple = isEmpty(thread, place, writer) ? undefined : await readThread(this.#ctx.db, thread, place);
    if (place.ns !== "") return tuple;
    thread.welcome(writer);
    // Whoever asks for the newest means to go on from it; whoever names one means to branch.
    const newest = place.checkpoint_id === undefined;
    if (newest) this.#seen.noteNewest(writer, place.thread_id, tuple?.checkpoint.id ?? null);
    else this.#seen.noteNamed(writer, place.thread_id);
    if (isAlone(writer)) this.#read.note(place.thread_id, tuple?.checkpoint.id ?? null, newest);
    return tuple;
  }

  async *list(config: RunnableConfig, options?: CheckpointListOptions): AsyncGenerator<CheckpointTuple> {
    yield* listCheckpoints(this.#ctx.db, config, options);
  }

  async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<RunnableConfig> {
    const { thread_id, ns, checkpoint_id: parent_id } = requirePlace(config);
    const writer = writerOf(config);
    const thread = this.#thread(thread_id);
    // No await where the parent is known: the values must be encoded before the graph goes on and changes them.
    if (parent_id && !thread.channelsOf(ns, parent_id))
      await loadChannels(this.#ctx.db, thread, { thread_id, ns, parent_id });
    if (ns === "" && thread.session_id === undefined) await thread.findSession();
    const goesOn =
      isAlone(writer) && metadata.source === "update" && this.#read.wasNewest(thread_id, parent_id ?? null);
    const seen = ns !== "" ? undefined : goesOn ? (parent_id ?? null) : this.#seen.find(writer, thread_id);
    const snapshot = (ns === "" ? writer.lease?.snapshot?.() : undefined) ?? null;
    let events: NewEvent[] | undefined;
    const written = hand(thread, writer, urgencyOf(checkpoint, ns, writer, config), (encoder) => {
      const where = `Thread ${thread_id}, checkpoint ${checkpoint.id}`;
      const parent = parent_id ? thread.channelsOf(ns, parent_id) : undefined;
      const body = encodeBody({
        checkpoint,
        newVersions,
        parent: tellsAllChanges(metadata, thread, ns, parent_id) ? parent : "unusable",
        encoder,
        ns,
        where,
      });
      const row = {
        ns,
        checkpoint_id: checkpoint.id,
        parent_id: parent_id ?? null,
        body: toBytes(bodyJson(body)),
        metadata: JSON.stringify(encodeValue(noted(metadata, ns, writer), `${where}, metadata`)),
        snapshot,
      };
      const op: WriteOp = { checkpoint: { ...row, channels: body.channels }, expectedHead: seen };
      if (ns !== "") return op;
      const numbers = () => messageNumbers(body.channels, parent, encoder);
      projectRoot(op, { thread, checkpoint, numbers, lease: writer.lease });
      // Last, since what is taken for an encoding that fails is lost. And only once: encoding may happen again, when
      // pieces were swept in between.
      events ??= writer.lease?.takeEvents?.({ checkpoint_id: checkpoint.id, step: metadata.step });
      if (events) op.events = events;
      return op;
    });
    if (ns === "" && checkpoint.id !== parent_id) this.#seen.note(writer, thread_id, checkpoint.id);
    await written;
    return configOf({ thread_id, ns }, checkpoint.id);
  }

  /**
   * LangGraph looks at the outcome only when the step is over. A failure until then must not count as unhandled, or
   * it would end the process and every other run in it.
   */
  putWrites(config: RunnableConfig, writes: PendingWrite[], taskId: string, taskPath = ""): Promise<void> {
    return handledLater(this.#putWrites(config, writes, { task_id: taskId, task_path: taskPath }));
  }

  /**
   * Stores events of a leased run at its session's next numbers: in order with the run's checkpoints, and often in
   * their commit. Followers are told afterwards.
   */
  async appendEvents(thread_id: string, lease: WriterLease, events: NewEvent[]): Promise<void> {
    // No await before this: what is given first must be written first.
    await this.#thread(thread_id).write({ lease, invocation: undefined }, () => ({ events }));
  }

  /** Everything given so far under the lease is durable. Rejects with the first failure. */
  async flush(thread_id: string, lease: WriterLease): Promise<void> {
    await this.#thread(thread_id).settled({ lease, invocation: undefined });
  }

  /** Removes the thread's checkpoints for good: whoever still writes to it is refused. Forks keep what they share. */
  async deleteThread(threadId: string): Promise<void> {
    const thread_id = threadIdOf(threadId);
    const deleted = await this.#ctx.db.transaction(() => deleteThread(this.#ctx, thread_id));
    this.#threads.delete(thread_id);
    await removeRestNow(this.#ctx, deleted);
  }

  /** A new thread that stands where the other does, or did at a checkpoint; it shares all that is stored. */
  async copyThread(from: string, to: string, options: { checkpoint_id?: string } = {}): Promise<void> {
    await copyThread(this.#ctx, threadIdOf(from), requireThreadId(to), options);
  }

  /** Removes old checkpoints; never the head of a branch, a fork's beginning, or one that waits for an answer. */
  async prune(options: PruneOptions = {}): Promise<PruneReport> {
    return prune(this.#ctx, options);
  }

  /** Removes the threads whose time is over, and what a process that was killed has left of deleted ones. */
  async sweepExpired(): Promise<string[]> {
    return sweepExpired(this.#ctx);
  }

  /** From now on; `null` lets it live for ever. Every write starts the time anew where the saver has a `ttl_ms`. */
  async setThreadTtl(thread_id: string, ttl_ms: number | null): Promise<void> {
    await setThreadTtl(this.#ctx.db, threadIdOf(thread_id), ttl_ms);
  }

  /** Bytes that this thread itself has stored; what it shares with the thread it was forked from is counted there. */
  async threadSize(thread_id: string): Promise<number> {
    const { q } = this.#ctx.db;
    const live = q
      .selectFrom("threads")
      .select("bytes")
      .where("thread_id", "=", threadIdOf(thread_id))
      .where("deleted_at", "is", null);
    const [row] = await this.#ctx.db.read(live);
    if (!row) throw new AppError("thread_not_found", `There is no thread ${thread_id}`);
    return row.bytes;
  }

  override async getDeltaChannelHistory(options: {
    config: RunnableConfig;
    channels: string[];
  }): Promise<Record<string, DeltaChannelHistory>> {
    const place = placeOf(options.config);
    return place ? deltaChannelHistory(this.#ctx.db, place, options.channels) : {};
  }

  /** LangGraph takes texts as versions too, but its graphs only accept a checkpointer whose type says number. */
  override getNextVersion(current: string | number | undefined): number {
    return nextVersion(current) as unknown as number;
  }

  async #putWrites(config: RunnableConfig, writes: PendingWrite[], task: Task): Promise<void> {
    const { thread_id, ns, checkpoint_id } = requirePlace(config);
    if (checkpoint_id === undefined) throw missing("checkpoint_id");
    const writer = writerOf(config);
    await hand(this.#thread(thread_id), writer, writer.lease?.pipelined ? "later" : "soon", (encoder) => ({
      writes: writes.map(([channel, value], position) => {
        const where = `Thread ${thread_id}, write to ${channel}`;
        const json = encoder.encodeWrite(value, { where, ns, channel, settled: false });
        const special = WRITES_IDX_MAP[channel];
        const idx = special ?? position;
        return { ns, checkpoint_id, ...task, idx, channel, value: toBytes(json), replace: special !== undefined };
      }),
    }));
  }

  #thread(thread_id: string): ThreadWriter {
    let thread = this.#threads.get(thread_id);
    if (!thread) {
      this.#makeRoom();
      thread = new ThreadWriter(this.#ctx, thread_id, this.#options.ttl_ms);
    } else this.#threads.delete(thread_id);
    this.#threads.set(thread_id, thread);
    return thread;
  }

  #makeRoom(): void {
    if (this.#threads.size < THREADS_KNOWN) return;
    for (const [id, thread] of this.#threads) {
      if (!thread.isIdle) continue;
      this.#threads.delete(id);
      return;
    }
  }
}

/** Whether the graph goes on before this checkpoint is durable. */
function isPipelined({ lease }: Writer, ns: string, checkpoint: Checkpoint): boolean {
  const pipelined = lease?.pipelined ?? false;
  return typeof pipelined === "boolean" ? pipelined : ns === "" && pipelined(checkpoint);
}

function isEmpty(thread: ThreadWriter, { ns, checkpoint_id }: Place, { lease }: Writer): boolean {
  if (lease?.empty_session === undefined || ns !== "" || checkpoint_id !== undefined) return false;
  return thread.beginEmpty(lease.empty_session);
}

function urgencyOf(checkpoint: Checkpoint, ns: string, writer: Writer, config: RunnableConfig): Urgency {
  if (isPipelined(writer, ns, checkpoint)) return "later";
  // Beside a subgraph other nodes of its parent may be at work.
  return ns === "" && (config as { durability?: unknown }).durability === "sync" ? "awaited" : "soon";
}

/** Resolves when the write is durable, or at once if nobody waits for that. */
function hand(thread: ThreadWriter, writer: Writer, urgency: Urgency, encode: Encode): Promise<void> | undefined {
  const written = thread.write(writer, encode, urgency);
  if (urgency !== "later") return written;
  // A failure is told to the lease, and to whatever comes next under it.
  written.catch(() => undefined);
  return undefined;
}

/** No lease and no invocation: `updateState`, `getState`, or whoever calls the saver itself. */
function isAlone({ lease, invocation }: Writer): boolean {
  return !lease && !invocation;
}

/**
 * Whether the new versions are all that changed since the parent. An update first applies what is pending there, and gives
 * those channels no version; a copy of a checkpoint (`updateState` as `__copy__`) comes after the parent of the one that it
 * copies, or after none.
 */
function tellsAllChanges(
  { source }: CheckpointMetadata,
  thread: ThreadWriter,
  ns: string,
  parent_id: string | undefined,
): boolean {
  if (source === "fork") return false;
  if (parent_id === undefined) return true;
  return (
    thread.channelsOf(ns, parent_id) !== undefined && !(source === "update" && thread.mayHaveWrites(ns, parent_id))
  );
}

function noted(metadata: CheckpointMetadata, ns: string, { lease }: Writer): object {
  return ns === "" && lease ? { ...metadata, run_id: lease.run_id, ...lease.metadata } : metadata;
}
