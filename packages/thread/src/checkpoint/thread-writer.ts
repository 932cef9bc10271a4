import { AppError, isAppError } from "@cognition/contract";
import type { NewEvent } from "../event-log.ts";
import { isDifference } from "../sql/check-projection.ts";
import type { SqlContext } from "../sql/context.ts";
import { placeholders } from "../sql/dialect.ts";
import { storageError } from "../sql/errors.ts";
import { eventIds, insertEvents, storedEvents } from "../sql/event-rows.ts";
import { makeInherited } from "../sql/inherit-messages.ts";
import type { LeavingWrite, Left } from "../sql/leave-run.ts";
import { rebuildMessages } from "../sql/message-projection.ts";
import { all, type QueryResult, type Statement, type Tx } from "../sql/statement.ts";
import type { Channels } from "./checkpoint-body.ts";
import { explainRefusal } from "./explain-refusal.ts";
import { isSameWriter, type LeasedWrites, type Writer, type WriterLease } from "./lease.ts";
import { noKnowledge } from "./piece-knowledge.ts";
import { PieceMemory } from "./piece-memory.ts";
import { projectionStatements } from "./projection-statements.ts";
import { threadStatements } from "./thread-write.ts";
import { type Encode, type Urgency, WriteBatch } from "./write-batch.ts";
import {
  expectedHead,
  projectedAfter,
  projectedChanges,
  rebuildInstead,
  rebuiltSessions,
  type WriteOp,
} from "./write-op.ts";
import { ensureThread, type Reached } from "./write-statements.ts";

/** Recent checkpoints whose channels are known, so that the next one can take over what did not change. */
const CHECKPOINTS_KNOWN = 64;

/** Stands for "the guard found no row" until it is explained. */
const REFUSED = new AppError("concurrent_writer", "The write was refused");
/** What was on its way is not what the values are: they were encoded once more. */
const CHANGED = new AppError("concurrent_writer", "The values were changed");

interface Sent {
  results: readonly QueryResult[];
  /** All that the commit has put into the log. */
  events: readonly NewEvent[];
  left?: Left;
}

/**
 * Writes of one thread, from this process. Calls that arrive together (a step's writes and the checkpoint that ends
 * it) are one transaction, and so is what arrives while another is on its way. Values are encoded at the call: what
 * the graph changes afterwards is not in them.
 */
export class ThreadWriter implements LeasedWrites {
  readonly #ctx: SqlContext;
  readonly thread_id: string;
  readonly #ttl_ms: number | undefined;
  #knowledge = noKnowledge();
  #exists = false;
  #open: WriteBatch | undefined;
  /** In the order in which they will be written; the first is on its way. */
  readonly #unfinished: WriteBatch[] = [];
  /** Leases and invocations of which a write has failed: nothing that comes after it may be stored without it. */
  readonly #failed = new WeakMap<object, unknown>();
  readonly #channels = new Map<string, { channels: Channels; mayHaveWrites: boolean }>();
  /** The session this thread belongs to, null for none, undefined while nobody has asked. */
  session_id: string | null | undefined;
  /** The root checkpoint that this process knows to be the newest, or is about to write as such. */
  head: string | null | undefined;
  /** The pieces of that checkpoint's list of messages, if they are known. */
  messages: readonly number[] | undefined;
  /** That list itself, while the graph has it. */
  shown: WeakRef<readonly unknown[]> | undefined;

  constructor(ctx: SqlContext, thread_id: string, ttl_ms: number | undefined) {
    this.#ctx = ctx;
    this.thread_id = thread_id;
    this.#ttl_ms = ttl_ms;
  }

  /** The memory that a reader may add to, for the generation in which it read. */
  memoryFor(generation: number): PieceMemory {
    if (this.#knowledge.generation !== undefined && this.#knowledge.generation !== generation) this.#forget();
    this.#knowledge.generation ??= generation;
    this.#exists = true;
    return this.#knowledge.memory;
  }

  channelsOf(ns: string, checkpoint_id: string): Channels | undefined {
    return this.#channels.get(`${ns}\0${checkpoint_id}`)?.channels;
  }

  /** Whether whoever read it last may have seen pending writes with it. */
  mayHaveWrites(ns: string, checkpoint_id: string): boolean {
    return this.#channels.get(`${ns}\0${checkpoint_id}`)?.mayHaveWrites ?? true;
  }

  rememberChannels(ns: string, checkpoint_id: string, channels: Channels, mayHaveWrites: boolean): void {
    if (this.#channels.size >= CHECKPOINTS_KNOWN) this.#channels.delete(this.#channels.keys().next().value as string);
    this.#channels.set(`${ns}\0${checkpoint_id}`, { channels, mayHaveWrites });
  }

  /** Takes the word of whoever claimed it that nothing was ever put into it; false if more is known. */
  beginEmpty(session_id: string): boolean {
    if (this.head !== undefined || !this.isIdle) return false;
    this.head = null;
    this.messages = [];
    this.session_id = session_id;
    this.#exists = true;
    return true;
  }

  async findSession(): Promise<string | null> {
    const [found] = await this.#ctx.db.readAll([this.selectSession()]);
    return this.noteSession(found);
  }

  selectSession(): Statement {
    const sql = placeholders(this.#ctx.db.dialect, "select id, inherits from sessions where thread_id = ?");
    return { sql, params: [this.thread_id], prepare: true };
  }

  /** Takes the answer to `selectSession`. */
  async noteSession(found: QueryResult | undefined): Promise<string | null> {
    const session = found?.rows[0] as { id: string; inherits: number } | undefined;
    if (session?.inherits === 1) await makeInherited(this.#ctx, session.id);
    // A session is made with its thread's row.
    if (session) this.#exists = true;
    this.session_id = session?.id ?? null;
    return this.session_id;
  }

  get isIdle(): boolean {
    return this.#unfinished.length === 0;
  }

  /**
   * The writer reads where the thread stands, and so begins anew. Not a run that the storage was away for: what it has told
   * then is in no checkpoint to be read, and would be missing from its log. Its next attempt tells it.
   */
  welcome({ lease, invocation }: Writer): void {
    const who = lease ?? invocation;
    if (!who || (lease && isAppError(this.#failed.get(lease), "storage_unavailable", "storage_busy"))) return;
    this.#failed.delete(who);
  }

  /** Encodes now, and throws if it can't; writes soon, and resolves when that is durable. */
  write(writer: Writer, encode: Encode, urgency: Urgency = "soon"): Promise<void> {
    const who = writer.lease ?? writer.invocation;
    if (who && this.#failed.has(who)) throw this.#failed.get(who);
    if (writer.lease) writer.lease.writes = this;
    const batch = this.#batchFor(writer);
    batch.add(encode, urgency);
    return batch.result;
  }

  /** What the writer has given so far is durable. */
  async settled(writer: Writer): Promise<void> {
    const who = writer.lease ?? writer.invocation;
    if (who && this.#failed.has(who)) throw this.#failed.get(who);
    const last = this.#unfinished.findLast((one) => isSameWriter(one.writer, writer));
    if (!last) return;
    for (const batch of this.#unfinished) batch.release();
    await last.result;
  }

  async storeWith(lease: WriterLease, statement: Statement): Promise<QueryResult | undefined> {
    const writer = { lease, invocation: undefined };
    const batch = this.#openOf(writer);
    if (!batch) {
      await this.settled(writer);
      return undefined;
    }
    const other = batch.addOther(statement);
    await batch.result;
    return other.result;
  }

  async commitWith(lease: WriterLease, leaving: LeavingWrite): Promise<Left | undefined> {
    const writer = { lease, invocation: undefined };
    const batch = this.#openOf(writer);
    if (batch) batch.leaving = leaving;
    await this.settled(writer);
    return batch?.left;
  }

  /** What still gathers of the same writer's. */
  #openOf(writer: Writer): WriteBatch | undefined {
    return this.#open && isSameWriter(this.#open.writer, writer) ? this.#open : undefined;
  }

  #batchFor(writer: Writer): WriteBatch {
    const open = this.#openOf(writer);
    if (open) return open;
    // What the same writer has on its way may be counted on: if that fails, so does what comes after it.
    const before = this.#unfinished.findLast((one) => isSameWriter(one.writer, writer));
    const knowledge = before?.knowledge ?? this.#knowledge;
    const memory = new PieceMemory(before?.memory ?? knowledge.memory);
    // Others may build on them from here on.
    for (const one of this.#unfinished) one.compare();
    this.#open?.release();
    const batch = new WriteBatch({
      ...{ writer, knowledge, memory },
      created_at: this.#ctx.now(),
      isElsewhere: this.#ctx.db.isElsewhere,
      onEncoded: (op) => this.#rememberCheckpoint(op),
    });
    batch.result = this.#run(batch, before, this.#unfinished.at(-1)?.result);
    // Whoever asked for the write sees its failure; this only keeps Node from calling it unhandled in between.
    batch.result.catch(() => undefined);
    this.#open = batch;
    this.#unfinished.push(batch);
    return batch;
  }

  async #run(batch: WriteBatch, before: WriteBatch | undefined, previous: Promise<void> | undefined): Promise<void> {
    await batch.gathered;
    if (previous) await previous.catch(() => undefined); // its failure is told to those who asked for it
    if (this.#open === batch) this.#open = undefined;
    try {
      await before?.result;
      if (batch.ops.length > 0) await this.#commitUnlessRefused(batch);
    } catch (error) {
      this.#forget();
      this.head = undefined;
      const { lease, invocation } = batch.writer;
      const who = lease ?? invocation;
      if (who) this.#failed.set(who, error);
      lease?.lost?.(error as Error);
      throw error;
    } finally {
      this.#unfinished.shift();
    }
  }

  /** Each reason that isn't final takes away the condition it came from, so there is an end to it. */
  async #commitUnlessRefused(batch: WriteBatch): Promise<void> {
    for (;;) {
      try {
        return await this.#commit(batch);
      } catch (error) {
        if (isDifference(error))
          batch.leaving = undefined; // it is dealt with once the rest is stored
        else if (error === REFUSED) await this.#amend(batch);
        else if (error !== CHANGED) throw error;
      }
    }
  }

  async #amend(batch: WriteBatch): Promise<void> {
    const reason = await explainRefusal(this.#ctx.db, this.thread_id, batch.writer, batch.knowledge);
    if (reason === "lost" && batch.writer.lease) {
      this.#forget();
      throw lostByDatabase(this.thread_id);
    }
    if (reason === "pruned" || reason === "lost") {
      // Or the thread has got a session.
      if (this.session_id === null) await this.findSession();
      this.#encodeAgain(batch);
    } else if (reason.code === "concurrent_writer" && expectedHead(batch.ops) === undefined) rebuildInstead(batch.ops);
    else throw reason;
  }

  #encodeAgain(batch: WriteBatch): void {
    this.#forget();
    batch.encodeAgain(this.#knowledge);
  }

  #rememberCheckpoint({ checkpoint }: WriteOp): void {
    if (checkpoint) this.rememberChannels(checkpoint.ns, checkpoint.checkpoint_id, checkpoint.channels, true);
  }

  async #commit(batch: WriteBatch): Promise<void> {
    if (!(this.#ctx.db.isElsewhere && isKnownBeforehand(batch))) batch.compare();
    batch.throwIfFailed();
    const opening = this.#exists ? [] : [ensureThread(this.#ctx.db.dialect, this.thread_id, batch.created_at)];
    const own = [...opening, ...this.#statements(batch)];
    const { results, events, left } = await this.#send(
      [...own, ...batch.others.map(({ statement }) => statement)],
      batch,
    );
    const row = results[opening.length]?.rows[0] as unknown as Reached & { generation: number };
    this.#exists = true;
    batch.left = left;
    for (const [i, other] of batch.others.entries()) other.result = results[own.length + i];
    batch.knowledge.generation = row.generation;
    batch.knowledge.reached = { checkpoint_seq: row.checkpoint_seq, event_seq: row.event_seq };
    batch.memory.mergeInto(batch.knowledge.memory);
    this.#open?.memory.settleOn(this.#open.knowledge.memory);
    await this.#publish(batch, row.event_seq, events);
  }

  async #publish(batch: WriteBatch, event_seq: number, events: readonly NewEvent[]): Promise<void> {
    if (events.length === 0) return;
    const session_id = this.session_id === undefined ? await this.findSession() : this.session_id;
    const { writer, leaving } = batch;
    const run_id = writer.lease?.run_id ?? null;
    const { created_at } = leaving ?? batch;
    if (session_id)
      this.#ctx.feed.publish(session_id, storedEvents({ session_id, run_id, events, created_at }, event_seq));
    writer.lease?.committed?.(eventIds(event_seq, events.length));
  }

  /** One round trip, unless the conversation has to be read before it can be set right. */
  async #send(statements: Statement[], batch: WriteBatch): Promise<Sent> {
    const { db } = this.#ctx;
    const events = batch.ops.flatMap((op) => op.events ?? []);
    try {
      if (isKnownBeforehand(batch))
        return { results: await db.atomic(statements, this.thread_id, confirmation(batch)), events };
      return await db.transaction(() => this.#body(statements, batch, events), this.thread_id);
    } catch (error) {
      throw error instanceof AppError ? error : storageError(error, `Thread ${this.thread_id}`);
    }
  }

  *#body(statements: readonly Statement[], batch: WriteBatch, events: readonly NewEvent[]): Tx<Sent> {
    const { leaving } = batch;
    const rebuilt = rebuiltSessions(batch.ops);
    const known = leaving && rebuilt.size === 0 ? leaving.statements : [];
    const results = yield* all([...statements, ...known]);
    for (const session_id of rebuilt) yield* rebuildMessages(this.#ctx, session_id);
    if (!leaving) return { results, events };
    const looked = rebuilt.size === 0 ? results.slice(statements.length) : yield* all(leaving.statements);
    const { events: told, ...left } = yield* leaving.finish(looked, this.thread_id, events);
    return { results, events: told, left };
  }

  #statements({ ops, pieces, writer, knowledge, created_at, leaving }: WriteBatch): Statement[] {
    const { dialect } = this.#ctx.db;
    const thread_id = this.thread_id;
    const checkpoints = ops.flatMap((op) => op.checkpoint ?? []);
    const events = ops.flatMap((op) => op.events ?? []);
    const run_id = writer.lease?.run_id ?? null;
    const guard = {
      thread_id,
      events: events.length + (leaving?.events ?? 0),
      ends: leaving !== undefined,
      head: checkpoints.findLast((c) => c.ns === "" && c.checkpoint_id !== c.parent_id)?.checkpoint_id,
      epoch: writer.lease?.epoch,
      generation: knowledge.generation,
      reached: knowledge.reached,
      expectedHead: expectedHead(ops) === undefined ? projectedAfter(ops) : expectedHead(ops),
      ttl_ms: this.#ttl_ms,
    };
    const writes = ops.flatMap((op) => op.writes ?? []);
    return [
      ...threadStatements(dialect, { guard, pieces, checkpoints, writes }, () => REFUSED),
      // With a run's end, which knows what its own say only then, they are all stored at once.
      ...(leaving ? [] : insertEvents(dialect, { thread_id, run_id, events, created_at })),
      ...[...projectedChanges(ops)].flatMap(([session_id, changes]) =>
        projectionStatements(dialect, session_id, changes),
      ),
    ];
  }

  /** The channels name pieces as well. */
  #forget(): void {
    this.#knowledge = noKnowledge();
    this.#channels.clear();
  }
}

/** As when another has taken over: the run goes on from what is there. Checkpoints that name what is gone could never be read. */
function lostByDatabase(thread_id: string): AppError {
  const told =
    `The database no longer has what was stored of thread ${thread_id}, as after a backup or a standby took its place; ` +
    "nothing of this is stored, and the run goes on from what is there";
  return new AppError("stale_epoch", told);
}

/** Nothing has to be read before it can be written. */
function isKnownBeforehand({ ops, leaving }: WriteBatch): boolean {
  return rebuiltSessions(ops).size === 0 && !leaving;
}

/** Looks whether the batch still is what was sent of it, if that was not done before. */
function confirmation(batch: WriteBatch): (() => void) | undefined {
  if (!batch.assumes) return undefined;
  const { revision } = batch;
  return () => {
    batch.compare();
    if (batch.revision !== revision) throw CHANGED;
  };
}
