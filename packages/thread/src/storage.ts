import type { Scope } from "@cognition/contract";
import type { ApiKeyStore } from "./api-key-store.ts";
import type { ArtifactStore } from "./artifact-store.ts";
import type { BreakerStore } from "./breaker-store.ts";
import type { BudgetStore } from "./budget-store.ts";
import type { ChatSessionStore } from "./chat/chat-session-store.ts";
import type { CheckpointSaver } from "./checkpoint-saver.ts";
import type { DefinitionStore, RevisionStore } from "./definition-store.ts";
import type { DeliveryStore } from "./delivery-store.ts";
import type { EventLog } from "./event-log.ts";
import type { IdempotencyStore } from "./idempotency-store.ts";
import type { Store } from "./memory-store.ts";
import type { MessageStore } from "./message-store.ts";
import type { RateLimitStore } from "./rate-limit-store.ts";
import type { RunStore } from "./run-store.ts";
import type { SessionStore } from "./session-store.ts";
import type { SnapshotStore } from "./snapshot-store.ts";
import type { ProfileStore, TaskStore } from "./task/task-store.ts";
import type { TimelineStore } from "./timeline-store.ts";
import type { ToolJournal } from "./tool-journal.ts";
import type { UsageStore } from "./usage-store.ts";

/**
 * What a back end promises. Names that the seeds give keep the seeds' return values (`null`, `false` and counts where
 * others throw). A `scope` argument narrows a call to rows whose scopes are exactly equal: another scope's row is
 * as good as absent. A scope one of whose keys has no value (`{ user: undefined }`) is refused with `validation_failed`,
 * never taken for none. Writes are durable when the promise resolves; a rejected write has changed nothing.
 */
export interface Storage
  extends SessionStore,
    MessageStore,
    RunStore,
    EventLog,
    ToolJournal,
    DeliveryStore,
    IdempotencyStore {
  /** sqlite, postgres, memory, or what a back end of somebody's own goes by. */
  readonly backend: string;
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
  backend: string;
  ok: boolean;
  latency_ms: number;
  schema_version?: number;
  /** PostgreSQL: whether the database itself holds reads that name a scope to it. */
  row_security?: boolean;
  error?: string;
}
