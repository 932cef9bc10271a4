import { isBaseMessage } from "@langchain/core/messages";
import type { RunnableConfig } from "@langchain/core/runnables";
import type { ChannelVersions, Checkpoint } from "@langchain/langgraph-checkpoint";
import { emptyCheckpoint } from "@langchain/langgraph-checkpoint";
import type { CheckpointSaver } from "../checkpoint-saver.ts";
import type { Storage } from "../storage.ts";

export type Values = Record<string, unknown>;

/** A checkpoint that was put, as what comes after it needs it. */
export interface Point {
  config: RunnableConfig;
  checkpoint: Checkpoint;
}

export interface PutOptions {
  /** The channels that are new in it; all of them if not said. The others are taken over from the one before. */
  changed?: string[];
  ns?: string;
  /** More for the config's `configurable`, such as a lease. */
  configurable?: Record<string, unknown>;
  signal?: AbortSignal;
  step?: number;
  /** "sync" for a graph that stands still until the checkpoint is stored. */
  durability?: "sync" | "async";
}

/** Puts a checkpoint as LangGraph does: as the first of a thread, or after another one. */
export async function put(
  saver: CheckpointSaver,
  after: string | Point,
  values: Values,
  options: PutOptions = {},
): Promise<Point> {
  const { changed = Object.keys(values), ns = "", configurable, signal, step = 0, durability } = options;
  const before: ChannelVersions = typeof after === "string" ? {} : after.checkpoint.channel_versions;
  const newVersions = Object.fromEntries(changed.map((name) => [name, saver.getNextVersion(before[name])]));
  const checkpoint: Checkpoint = {
    ...emptyCheckpoint(),
    channel_values: values,
    channel_versions: { ...before, ...newVersions },
  };
  const place = typeof after === "string" ? { thread_id: after, checkpoint_ns: ns } : after.config.configurable;
  const parent = { configurable: { ...place, ...configurable }, ...(signal && { signal }), durability };
  const config = await saver.put(parent, checkpoint, { source: "loop", step, parents: {} }, newVersions);
  return { config, checkpoint };
}

/** The values of a checkpoint, or of a thread's newest. */
export async function read(saver: CheckpointSaver, at: string | Point, ns = ""): Promise<Values | undefined> {
  const config =
    typeof at === "string"
      ? { configurable: { thread_id: at, checkpoint_ns: ns } }
      : { configurable: at.config.configurable ?? {} };
  const tuple = await saver.getTuple(config);
  return tuple && (comparable(tuple.checkpoint.channel_values) as Values);
}

/** The ids that a listing gives, in its order. */
export async function listed(saver: CheckpointSaver, config: RunnableConfig): Promise<string[]> {
  const ids: string[] = [];
  for await (const { checkpoint } of saver.list(config)) ids.push(checkpoint.id);
  return ids;
}

/** The saver of another process on the same data, where there can be one; otherwise the same. */
export async function elsewhere(
  storage: Storage,
  second: (() => Promise<Storage>) | undefined,
): Promise<CheckpointSaver> {
  return (second ? await second() : storage).getCheckpointer();
}

/** Messages by class and members, without LangChain's record of what the constructor was given; the rest as it is. */
export function comparable(value: unknown): unknown {
  if (isBaseMessage(value)) {
    const members = Object.entries(value).filter(([key, member]) => !key.startsWith("lc_") && member !== undefined);
    return { class: value.constructor.name, ...(comparable(Object.fromEntries(members)) as object) };
  }
  if (Array.isArray(value)) return value.map(comparable);
  if (value === null || typeof value !== "object" || Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, comparable(member)]));
}
