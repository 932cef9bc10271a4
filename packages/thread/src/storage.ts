import type {
  Delivery,
  Interrupt,
  Message,
  Run,
  Scope,
  Session,
  SessionConfig,
  StoredEvent,
} from "@cognition/contract";
import type { ApiKeyStore } from "./api-key-store.ts";
import type { ArtifactStore } from "./artifact-store.ts";
import type { BreakerStore } from "./breaker-store.ts";
import type { BudgetStore } from "./budget-store.ts";
import type { ChatSessionStore } from "./chat/chat-session-store.ts";
import type { CheckpointSaver } from "./checkpoint/checkpoint-saver.ts";
import type { Store } from "./checkpoint/store.ts";
import type { DefinitionStore, RevisionStore } from "./definition-store.ts";
import type { RateLimitStore } from "./rate-limit-store.ts";
import type { SnapshotStore } from "./snapshot-store.ts";
import type { ProfileStore, TaskStore } from "./task/task-store.ts";
import type { TimelineStore } from "./timeline-store.ts";
import type { UsageStore } from "./usage-store.ts";

/**
 * What a back end promises. Names that the seeds give keep the seeds' return values (`null`, `false` and counts where
 * others throw). A `scope` argument narrows a call to rows whose scopes are exactly equal: another scope's row is
 * as good as absent. Writes are durable when the promise resolves; a rejected write has changed nothing.
 */
export interface Storage
  extends SessionStore,
    MessageStore,
    RunStore,
    EventLog,
    ToolJournal,
    DeliveryStore,
    IdempotencyStore {
  readonly backend: "sqlite" | "postgres" | "memory";
  readonly artifacts: ArtifactStore;
  readonly profiles: ProfileStore;
  readonly tasks: TaskStore;
  readonly snapshots: SnapshotStore;
  readonly timeline: TimelineStore;
  readonly apiKeys: ApiKeyStore;
  readonly rateLimits: RateLimitStore;
  readonly breakers: BreakerStore;
  readonly agents: DefinitionStore;
  readonly providers: DefinitionStore;
  readonly revisions: RevisionStore;
  readonly usage: UsageStore;
  readonly budgets: BudgetStore;

  /** Makes or migrates the schema. Calling it again is harmless; every other call before it rejects with `not_initialized`. */
  initialize(): Promise<void>;
  /** Finishes what was accepted, then lets go of files and connections. Calling it again is harmless. */
  close(): Promise<void>;
  /** Answers from the database itself, never from memory; `ok: false` instead of a throw when it can't be reached. */
  healthCheck(): Promise<StorageHealth>;

  /** The same instance each time. Its writes and this storage's writes are on one database and can share a commit. */
  getCheckpointer(): Promise<CheckpointSaver>;
  closeCheckpointer(): Promise<void>;
  /** The memory that spans threads, confined to one scope: items of other scopes don't exist for it. */
  getStore(scope?: Scope): Promise<Store>;
  /** Scopes with items past their time, which their store's `sweepExpired` would remove. */
  expiredStores(): Promise<Scope[]>;
  /** Chats by (user_id, chat_id) within one scope, on this database. Set up already; `teardown` leaves the storage open. */
  getChatStore(scope?: Scope): Promise<ChatSessionStore>;
}

export interface StorageHealth {
  backend: Storage["backend"];
  ok: boolean;
  latency_ms: number;
  schema_version?: number;
  /** PostgreSQL: whether the database itself holds reads that name a scope to it. */
  row_security?: boolean;
  error?: string;
}

export interface NewSession {
  id?: string;
  /** A thread that has no session yet, or none: one is made. */
  thread_id?: string;
  title?: string | null;
  agent_name?: string;
  config?: SessionConfig;
  scopes?: Scope;
  metadata?: Record<string, string>;
  mode?: Session["mode"];
  workspace_path?: string | null;
  parent?: Session["parent"];
}

export interface SessionFilter {
  /** Every given key must be equal; a session may have more. An empty filter matches all. */
  filter_scopes?: Scope;
  /** Exact equality of all keys. */
  scope?: Scope;
  /** Every predicate must match; keys and values may hold any character. */
  metadata_filters?: Record<string, string>;
  status?: Session["status"];
}

export type SessionPatch = Partial<
  Pick<Session, "title" | "status" | "agent_name" | "mode" | "config" | "metadata" | "workspace_path">
>;

export interface SessionStore {
  /** Makes the session and its thread in one commit. */
  createSession(session: NewSession): Promise<Session>;
  getSession(session_id: string, scope?: Scope): Promise<Session | null>;
  /**
   * Newest first, in an order that does not depend on clocks. `before` is the id of a session: only those made before it,
   * also once it is deleted, whatever else came or went.
   */
  listSessions(filter?: SessionFilter & { limit?: number; offset?: number; before?: string }): Promise<Session[]>;
  countSessions(filter?: SessionFilter): Promise<number>;
  /** Changes only what is given: config is merged key by key, metadata replaced. `null` if there is no such session. */
  updateSession(session_id: string, patch: SessionPatch, scope?: Scope): Promise<Session | null>;
  /** Adds `delta` in the database, so that concurrent calls add up. Never below zero. */
  updateMessageCount(session_id: string, delta: number): Promise<void>;
  /**
   * Removes the session, its messages, runs, events, journal, scratch artifacts and its thread in one commit. The
   * thread stays deleted: a writer that comes late is refused. Pieces that a fork shares live on. Deliveries stay.
   */
  deleteSession(session_id: string, scope?: Scope): Promise<boolean>;
}

export type NewMessage = Pick<Message, "session_id" | "role" | "content"> & Partial<Message>;

export interface MessageStore {
  /** Appends and counts in one commit. The same id again in that session returns the first and counts once. */
  createMessage(message: NewMessage): Promise<Message>;
  getMessage(message_id: string, options?: { session_id?: string; scope?: Scope }): Promise<Message | null>;
  /** A page, newest first unless `order` is "asc", and how many there are in all. */
  getMessagesBySession(
    session_id: string,
    page?: {
      limit?: number;
      offset?: number;
      order?: "asc" | "desc";
      role?: Message["role"];
      scope?: Scope;
      /** Only what comes after this message, in the order asked for. `message_not_found` where it is not in the list any more. */
      past?: string;
    },
  ): Promise<{ messages: Message[]; total: number }>;
  /**
   * What users and assistants said in words, in all sessions that match, oldest session first: a page, and how many there
   * are. What a tool said, and an answer that is only a call of one, is not among it.
   */
  listSpokenMessages(
    filter: SessionFilter,
    page?: { limit?: number; offset?: number },
  ): Promise<{ messages: Message[]; total: number }>;
  /** All, oldest first. */
  listMessagesForSession(session_id: string): Promise<Message[]>;
  deleteMessagesForSession(session_id: string): Promise<number>;
  /**
   * Makes the rows equal what the head's ancestry holds, from nothing if need be: missing ones are added, altered ones
   * set right, foreign ones removed; ids, times and usage that are known stay.
   */
  rebuildMessages(session_id: string): Promise<RebuildReport>;
}

export interface RebuildReport {
  checked: number;
  repaired: number;
  added: number;
  removed: number;
}

export interface NewRun {
  id?: string;
  session_id: string;
  agent_name?: string;
  agent_revision?: string | null;
  model?: string | null;
  /** What the run is to work on; opaque to storage. */
  input?: unknown;
  /** `reject`: only on a thread with nothing to do, else `session_busy`. Decided in the same commit. */
  on_busy?: "enqueue" | "reject";
  /** The run that this one goes on from. */
  resumes?: string | null;
  /** Who is to be told of its end; left out, whoever the run that it resumes would have told. */
  callback_url?: string | null;
  trace_id?: string | null;
  /** The user's message, stored in the same commit. */
  message?: Omit<NewMessage, "session_id">;
  /** Events of the admission (`status: queued`), in the same commit. */
  events?: NewEvent[];
  /** The same key and body gives the first run again; another body rejects with `idempotency_mismatch`. */
  idempotency?: { key: string; body_hash: string; ttl_ms?: number };
}

export interface Lease {
  run_id: string;
  epoch: number;
}

export interface RunClaim {
  owner: string;
  lease_ms: number;
  session_id?: string;
  /** Passes over the runs of these. */
  except_scopes?: readonly Scope[];
}

export interface ClaimedRun extends Lease {
  run: Run;
  scopes: Scope;
  thread_id: string;
  input: unknown;
  callback_url: string | null;
  abort_requested: boolean;
  /** Earlier attempts that a crash cut off since the last new checkpoint; 0 at the first claim. */
  stalled_attempts: number;
  /** Where the count of the run's events goes on: an earlier attempt has used the ordinals below. */
  next_ordinal: number;
}

export interface WaitingRun {
  run: Run;
  interrupts: Interrupt[];
  waiting_since: string;
}

export interface RunEnd {
  status: "succeeded" | "failed" | "aborted";
  error?: Run["error"];
  usage?: Run["usage"];
  /** Written before `done`, which must be the last of them and the only one. */
  events: NewEvent[];
  /** An outbox row, in the same commit. */
  delivery?: NewDelivery;
}

export interface RunStore {
  /**
   * Accepted means kept: message, run, events and idempotency key are one commit. Rejects with `waiting_for_approval`
   * while a run of the session waits for a human, and with `session_inactive` for an inactive session.
   */
  createRun(run: NewRun): Promise<{ run: Run; message: Message | null; created: boolean }>;
  /**
   * What `createRun` stored under this key in this session, without storing anything; null if it never did. Rejects with
   * `idempotency_mismatch` as that does.
   */
  findAdmittedRun(
    session_id: string,
    idempotency: { key: string; body_hash: string },
  ): Promise<{ run: Run; message: Message | null } | null>;
  getRun(run_id: string, scope?: Scope): Promise<Run>;
  /** How many wait for a node, in all scopes. */
  countQueuedRuns(): Promise<number>;
  /** Newest first. */
  listRuns(
    session_id: string,
    page?: { limit?: number; offset?: number; before?: string; scope?: Scope; status?: Run["status"] },
  ): Promise<Run[]>;
  countRuns(session_id: string, filter?: { scope?: Scope; status?: Run["status"] }): Promise<number>;
  /**
   * Gives the oldest run that may go on to exactly one caller: queued, first of its thread, no lease on the thread; or
   * running with a lease that has run out by the database's clock. Raises the thread's epoch, so that the former
   * owner's writes are refused. `null` if there is none.
   */
  claimRun(claim: RunClaim): Promise<ClaimedRun | null>;
  /**
   * `held` while the epoch is still the thread's, even after the lease ran out unclaimed; `abort_requested` if so, and
   * somebody on any node wants the run aborted; `lost` otherwise.
   */
  renewLease(lease: Lease, lease_ms: number): Promise<"held" | "abort_requested" | "lost">;
  /** Puts a running run back to the front of its thread's queue, free at once for another node. */
  releaseRun(lease: Lease): Promise<void>;
  /** running → waiting_for_approval, with its events and what it has used so far; the lease ends. */
  suspendRun(lease: Lease, events: NewEvent[], delivery?: NewDelivery, usage?: Run["usage"]): Promise<Run>;
  /**
   * waiting_for_approval → queued with a new input, or with what the function makes of the old one (it may be asked
   * twice). Two racing answers: one wins, the other gets `already_answered`.
   */
  resumeRun(run_id: string, input: unknown | ((before: unknown) => unknown)): Promise<Run>;
  /** Runs that wait for a human, longest waiting first, each with what it asks. */
  listWaitingRuns(filter?: { scope?: Scope; session_id?: string }): Promise<WaitingRun[]>;
  /**
   * Ends waiting runs and those that never began at once, each with its `done` and, if `deliveryOf` gives one, its
   * outbox row; marks one that has begun for its owner, or for whoever claims it next; gives the ids of all of them.
   * `deliveryOf` may be asked twice and must have no effects.
   */
  requestAbort(
    session_id: string,
    run_id?: string,
    deliveryOf?: (run: Run, input: unknown, callback_url: string | null) => NewDelivery | undefined,
  ): Promise<{ ended: string[]; marked: string[] }>;
  /**
   * Hints of what other processes did: the id of a session one of whose running runs somebody wants aborted, or `null`
   * where there may be something to claim. It may come late, twice or never. Gives the way to stop.
   */
  watchRuns(onNews: (session_id: string | null) => void): Promise<() => void>;
  /** Exactly one end: a second one, or one from an old epoch, is refused with `run_ended` or `stale_epoch`. */
  finishRun(lease: Lease, end: RunEnd): Promise<Run>;
}

export interface NewEvent {
  event: StoredEvent["event"];
  data: Record<string, unknown>;
  /** The writer's own count within the run: the same ordinal again is the same event, stored once. */
  ordinal?: number;
}

export interface EventLog {
  /**
   * Stores the events at the session's next numbers: 1, 2, 3 … without gap or reuse. With a lease, an old epoch is
   * refused with `stale_epoch`. What arrives together, of whatever threads, shares a commit.
   */
  appendEvents(append: { session_id: string; lease?: Lease; events: NewEvent[] }): Promise<StoredEvent[]>;
  /** In order. `folded` is how many events the page lacks because others stand for them (their data has `folded_from`). */
  readEvents(query: EventQuery): Promise<{ events: StoredEvent[]; has_more: boolean; folded: number }>;
  /** The highest number given out, 0 for none. */
  lastEventId(session_id: string): Promise<number>;
  /** Everything after the id, in order, each once, then live until the signal aborts; from any process. */
  followEvents(follow: EventFollow): AsyncIterable<StoredEvent>;
  /** The same, with what is there at once handed over at once: never an empty batch. */
  followEventBatches(follow: EventFollow): AsyncIterable<readonly StoredEvent[]>;
  /** How many events a reader that has seen `after` has missed, how many of them are folded away, and the log's end. */
  countEvents(query: Omit<EventQuery, "limit">): Promise<{ events: number; folded: number; head: number }>;
  /** Folds the token events of runs that ended before then into one per message, which keeps the last one's id. */
  compactEvents(before: Date): Promise<{ runs: number; folded: number }>;
}

export interface EventFollow {
  session_id: string;
  after: number;
  /** The log's end as the caller has just read it: saves reading what this process still has in memory. */
  head?: number;
  signal?: AbortSignal;
}

export interface EventQuery {
  session_id: string;
  /** Another scope's session is not found. */
  scope?: Scope;
  after?: number;
  limit?: number;
  types?: readonly StoredEvent["event"][];
  run_id?: string;
}

export interface ToolCallKey {
  thread_id: string;
  checkpoint_ns: string;
  tool_call_id: string;
}

export interface ToolCallIntent extends ToolCallKey {
  lease: Lease;
  name: string;
  args: unknown;
  /** What a crash between intent and result means: run it again, tell the model it is unknown, or ask a human. */
  on_crash: "retry" | "never" | "ask";
}

/** What to do now: run it, use what it came to, or face that nobody knows. */
export type ToolCallState =
  | { state: "started"; attempt: number; idempotency_key: string }
  | { state: "finished"; outcome: ToolOutcome; result: unknown }
  | { state: "unknown"; on_crash: "never" | "ask"; idempotency_key: string };

export type ToolOutcome = "ok" | "error" | "denied" | "aborted" | "unknown";

export interface ToolJournal {
  /** Records the intent before the tool starts. The idempotency key is the same for every attempt of one call. */
  beginToolCall(intent: ToolCallIntent): Promise<ToolCallState>;
  finishToolCall(key: ToolCallKey, lease: Lease, end: { outcome: ToolOutcome; result: unknown }): Promise<void>;
  /** The tool asked a human first: its intent is taken back, so that the answer starts it afresh. */
  withdrawToolCall(key: ToolCallKey, lease: Lease): Promise<void>;
  listToolCalls(run_id: string): Promise<ToolCallRecord[]>;
}

export interface ToolCallRecord {
  checkpoint_ns: string;
  tool_call_id: string;
  run_id: string;
  name: string;
  args: unknown;
  status: "started" | ToolOutcome;
  attempt: number;
  idempotency_key: string;
  result: unknown;
  created_at: string;
  finished_at: string | null;
}

export interface NewDelivery {
  url: string;
  payload: unknown;
}

export interface DeliveryFilter {
  scope?: Scope;
  status?: Delivery["status"];
  session_id?: string;
}

export interface DeliveryStore {
  getDelivery(delivery_id: string, scope?: Scope): Promise<Delivery>;
  /** Newest first. */
  listDeliveries(filter?: DeliveryFilter & { limit?: number; offset?: number; before?: string }): Promise<Delivery[]>;
  countDeliveries(filter?: DeliveryFilter): Promise<number>;
  /** Due ones, each to one caller until the lease runs out; at least once, never lost. */
  claimDeliveries(claim: { limit: number; lease_ms: number }): Promise<Delivery[]>;
  /** `next_attempt_ms` from now; without it a failure is final (dead letter). */
  recordAttempt(
    delivery_id: string,
    attempt: {
      status_code: number | null;
      error: string | null;
      ok: boolean;
      next_attempt_ms?: number;
      duration_ms?: number;
    },
  ): Promise<Delivery>;
  /** Makes it due again, whatever became of it. */
  redeliver(delivery_id: string, scope?: Scope): Promise<Delivery>;
}

export interface IdempotencyStore {
  /** `new` to exactly one caller; `pending` while that one works; `done` with its response afterwards. */
  claimIdempotencyKey(claim: {
    scope?: Scope;
    key: string;
    body_hash: string;
    ttl_ms?: number;
  }): Promise<{ state: "new" } | { state: "pending" } | { state: "done"; response: unknown }>;
  /** Kept for `ttl_ms` from now, or for as long as the claim said. */
  saveIdempotentResponse(answer: { scope?: Scope; key: string; response: unknown; ttl_ms?: number }): Promise<void>;
  /** Frees a key whose request failed before it changed anything. */
  releaseIdempotencyKey(key: { scope?: Scope; key: string }): Promise<void>;
  /** Its request is still worked on: nobody else gets it for so long from now. Never shortens what is done. */
  renewIdempotencyKey(key: { scope?: Scope; key: string; ttl_ms: number }): Promise<void>;
  /** Forgets what is past its time. */
  pruneIdempotencyKeys(): Promise<number>;
}
