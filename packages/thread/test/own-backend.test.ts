import type { RunnableConfig } from "@langchain/core/runnables";
import {
  BaseCheckpointSaver,
  BaseStore,
  type ChannelVersions,
  type Checkpoint,
  type CheckpointListOptions,
  type CheckpointMetadata,
  type Operation,
  type OperationResults,
  type PendingWrite,
} from "@langchain/langgraph-checkpoint";
import { describe, expect, test } from "vitest";
import type { CheckpointSaver } from "../src/checkpoint-saver.ts";
import { twoSteps } from "../src/conformance/checkpoint-graph.ts";
import { storeContract } from "../src/conformance/store-contract.ts";
import type { NewEvent } from "../src/event-log.ts";
import type { WriterLease } from "../src/index.ts";
import type { Store } from "../src/memory-store.ts";
import { openStorage } from "../src/open-storage.ts";
import type { Storage } from "../src/storage.ts";

/** A checkpointer that is no subclass of ours and has nothing but what the port asks for. */
class OwnSaver extends BaseCheckpointSaver implements CheckpointSaver {
  readonly #kept: CheckpointSaver;

  constructor(kept: CheckpointSaver) {
    super(kept.serde);
    this.#kept = kept;
  }

  getTuple(config: RunnableConfig) {
    return this.#kept.getTuple(config);
  }
  list(config: RunnableConfig, options?: CheckpointListOptions) {
    return this.#kept.list(config, options);
  }
  put(config: RunnableConfig, checkpoint: Checkpoint, metadata: CheckpointMetadata, versions: ChannelVersions) {
    return this.#kept.put(config, checkpoint, metadata, versions);
  }
  putWrites(config: RunnableConfig, writes: PendingWrite[], task_id: string) {
    return this.#kept.putWrites(config, writes, task_id);
  }
  appendEvents(thread_id: string, lease: WriterLease, events: NewEvent[]) {
    return this.#kept.appendEvents(thread_id, lease, events);
  }
  flush(thread_id: string, lease: WriterLease) {
    return this.#kept.flush(thread_id, lease);
  }
  deleteThread(thread_id: string) {
    return this.#kept.deleteThread(thread_id);
  }
  copyThread(from: string, to: string, options?: { checkpoint_id?: string }) {
    return this.#kept.copyThread(from, to, options);
  }
  prune(options?: Parameters<CheckpointSaver["prune"]>[0]) {
    return this.#kept.prune(options);
  }
  sweepExpired() {
    return this.#kept.sweepExpired();
  }
  setThreadTtl(thread_id: string, ttl_ms: number | null) {
    return this.#kept.setThreadTtl(thread_id, ttl_ms);
  }
  threadSize(thread_id: string) {
    return this.#kept.threadSize(thread_id);
  }
  override getDeltaChannelHistory(options: { config: RunnableConfig; channels: string[] }) {
    return this.#kept.getDeltaChannelHistory(options);
  }
  override getNextVersion(current: number | undefined) {
    return this.#kept.getNextVersion(current);
  }
}

class OwnStore extends BaseStore implements Store {
  readonly #kept: Store;

  constructor(kept: Store) {
    super();
    this.#kept = kept;
  }

  override batch<Op extends Operation[]>(operations: Op): Promise<OperationResults<Op>> {
    return this.#kept.batch(operations);
  }
  override get(...args: Parameters<Store["get"]>) {
    return this.#kept.get(...args);
  }
  override search(...args: Parameters<Store["search"]>) {
    return this.#kept.search(...args);
  }
  override put(...args: Parameters<Store["put"]>) {
    return this.#kept.put(...args);
  }
  recordedFor(thread_id: string) {
    return new OwnStore(this.#kept.recordedFor(thread_id));
  }
  sweepExpired() {
    return this.#kept.sweepExpired();
  }
}

async function openOwn() {
  const kept = await openStorage("memory");
  const saver = new OwnSaver(await kept.getCheckpointer());
  const storage: Storage = {
    ...kept,
    backend: "own",
    getCheckpointer: async () => saver,
    getStore: async (scope) => new OwnStore(await kept.getStore(scope)),
  };
  return { storage, dispose: () => kept.close() };
}

describe("a back end with a checkpointer and a store of its own", () => {
  storeContract(openOwn);

  test("carries a graph, its forks and its threads", async () => {
    const { storage, dispose } = await openOwn();
    const saver = await storage.getCheckpointer();
    const graph = twoSteps(saver);
    const config = { configurable: { thread_id: "one" }, durability: "sync" as const };
    const { log } = await graph.invoke({ log: ["asked"] }, config);
    await saver.copyThread("one", "two");
    expect((await graph.getState({ configurable: { thread_id: "two" } })).values).toMatchObject({ log });
    expect(await saver.threadSize("one")).toBeGreaterThan(0);
    expect((await storage.healthCheck()).ok).toBe(true);
    await dispose();
  });
});
