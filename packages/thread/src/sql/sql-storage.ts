import { AppError, type Scope } from "@cognition/contract";
import { CheckpointSaver } from "../checkpoint/checkpoint-saver.ts";
import { Store } from "../checkpoint/store.ts";
import type { EventLog } from "../event-log.ts";
import type { Storage, StorageHealth } from "../storage.ts";
import { createApiKeyStore } from "./api-key-store.ts";
import { createArtifactStore } from "./artifact-store.ts";
import { createBreakerStore } from "./breaker-store.ts";
import { createBudgetStore } from "./budget-store.ts";
import { createChatStore } from "./chat-store.ts";
import type { SqlContext } from "./context.ts";
import { createDefinitionStore, createRevisionStore } from "./definition-store.ts";
import { createDeliveryStore } from "./delivery-store.ts";
import { createEventLog } from "./event-log.ts";
import { expiredStores } from "./expired-stores.ts";
import { createIdempotencyStore } from "./idempotency-store.ts";
import { createMessageProjection } from "./message-projection.ts";
import { createMessageStore } from "./message-store.ts";
import { migrate, requireSchema, schemaState } from "./migrate.ts";
import { explainMigrationFailure } from "./migration-failure.ts";
import { createProfileStore } from "./profile-store.ts";
import { createRateLimitStore } from "./rate-limit-store.ts";
import { createRunStore } from "./run-store.ts";
import { createSessionStore } from "./session-store.ts";
import { createSnapshotStore } from "./snapshot-store.ts";
import { createTaskStore } from "./task-store.ts";
import { createTimelineStore } from "./timeline-store.ts";
import { createToolJournal } from "./tool-journal.ts";
import { createUsageStore } from "./usage-store.ts";

export interface SqlStorageOptions {
  backend: Storage["backend"];
  ctx: SqlContext;
  /** Without it a schema that is not this program's is an error instead of an upgrade. */
  migrate: boolean;
  /** Rejects while the database takes no writes. */
  requireWrites?: () => Promise<void>;
}

export function createSqlStorage(options: SqlStorageOptions): Storage {
  const { backend, ctx } = options;
  let initializing: Promise<void> | undefined;
  let closing: Promise<void> | undefined;
  let ready = false;
  let checkpointer: CheckpointSaver | undefined;

  function requireOpen(): void {
    if (closing) throw new AppError("storage_closed", "The storage was closed; open it again to use it");
    if (!ready) throw new AppError("not_initialized", "The storage was not initialized; call initialize() first");
  }

  async function initialize(): Promise<void> {
    if (closing) requireOpen();
    initializing ??= prepareSchema(options).then(
      () => {
        ready = true;
      },
      (error) => {
        initializing = undefined;
        throw error;
      },
    );
    return initializing;
  }

  async function close(): Promise<void> {
    ctx.feed.close();
    closing ??= ctx.db.close();
    return closing;
  }

  return {
    backend,
    ...namedStores(ctx, requireOpen),
    ...guard(createSessionStore(ctx), requireOpen),
    ...guard(createMessageStore(ctx), requireOpen),
    ...guard(createMessageProjection(ctx), requireOpen),
    ...guard(createRunStore(ctx), requireOpen),
    ...guardLog(createEventLog(ctx), requireOpen),
    ...guard(createToolJournal(ctx), requireOpen),
    ...guard(createDeliveryStore(ctx), requireOpen),
    ...guard(createIdempotencyStore(ctx), requireOpen),
    ...{ initialize, close },
    healthCheck: async () => {
      if (!closing) requireOpen();
      return checkHealth(options);
    },
    getCheckpointer: async () => {
      requireOpen();
      checkpointer ??= new CheckpointSaver(ctx);
      return checkpointer;
    },
    closeCheckpointer: async () => {
      checkpointer = undefined; // it has no connection of its own to close
    },
    ...guard(
      {
        getStore: async (scope?: Scope) => new Store(ctx, scope),
        getChatStore: async (scope?: Scope) => guard(createChatStore(ctx, scope), requireOpen),
        expiredStores: () => expiredStores(ctx.db),
      },
      requireOpen,
    ),
  };
}

/** Those that have a name of their own in the storage. */
function namedStores(ctx: SqlContext, requireOpen: () => void) {
  return {
    artifacts: guard(createArtifactStore(ctx), requireOpen),
    profiles: guard(createProfileStore(ctx), requireOpen),
    tasks: guard(createTaskStore(ctx), requireOpen),
    timeline: guard(createTimelineStore(ctx), requireOpen),
    snapshots: guard(createSnapshotStore(ctx), requireOpen),
    apiKeys: guard(createApiKeyStore(ctx), requireOpen),
    rateLimits: guard(createRateLimitStore(ctx), requireOpen),
    breakers: guard(createBreakerStore(ctx), requireOpen),
    agents: guard(createDefinitionStore(ctx, "agents"), requireOpen),
    providers: guard(createDefinitionStore(ctx, "providers"), requireOpen),
    revisions: guard(createRevisionStore(ctx), requireOpen),
    usage: guard(createUsageStore(ctx), requireOpen),
    budgets: guard(createBudgetStore(ctx), requireOpen),
  };
}

async function prepareSchema(options: SqlStorageOptions): Promise<void> {
  const { db } = options.ctx;
  try {
    await (options.migrate ? migrate(db) : requireSchema(db));
  } catch (error) {
    throw explainMigrationFailure(error);
  }
}

async function checkHealth({ backend, ctx, requireWrites }: SqlStorageOptions): Promise<StorageHealth> {
  const { db } = ctx;
  const start = performance.now();
  try {
    const { version } = await schemaState(db);
    const latency_ms = performance.now() - start;
    await requireWrites?.();
    const row_security = await db.hasWall();
    return {
      ...{ backend, ok: true, latency_ms, schema_version: version },
      ...(row_security === undefined ? {} : { row_security }),
    };
  } catch (error) {
    return { backend, ok: false, latency_ms: performance.now() - start, error: (error as Error).message };
  }
}

/** Every method asks first whether the storage is open; a "no" is a rejection, never a throw into the caller's face. */
function guard<T extends object>(store: T, requireOpen: () => void): T {
  const guarded = Object.entries(store).map(([name, method]) => [
    name,
    async (...args: unknown[]) => {
      requireOpen();
      return method(...args);
    },
  ]);
  return Object.fromEntries(guarded);
}

/** Asks only at the first step: closing ends whoever follows already, without an error. */
function guardLog({ followEvents, followEventBatches, ...log }: EventLog, requireOpen: () => void): EventLog {
  return {
    ...guard(log, requireOpen),
    followEvents: (follow) => guardFollower(followEvents(follow), requireOpen),
    followEventBatches: (follow) => guardFollower(followEventBatches(follow), requireOpen),
  };
}

function guardFollower<T>(follower: AsyncIterable<T>, requireOpen: () => void): AsyncIterable<T> {
  return {
    [Symbol.asyncIterator]: () => {
      const iterator = follower[Symbol.asyncIterator]();
      let asked = false;
      const next = async () => {
        if (!asked) requireOpen();
        asked = true;
        return iterator.next();
      };
      return { next, return: async () => (await iterator.return?.()) ?? { done: true, value: undefined } };
    },
  };
}
