import { AppError } from "@cognition/contract";
import type { RunnableConfig } from "@langchain/core/runnables";
import type {
  BaseCheckpointSaver,
  ChannelVersions,
  Checkpoint,
  CheckpointTuple,
  PendingWrite,
} from "@langchain/langgraph-checkpoint";
import type { CheckpointSaver } from "../checkpoint-saver.ts";
import { adoptVersion } from "./version.ts";

export interface ImportOptions {
  /** Only these; all that there are without it. */
  thread_ids?: readonly string[];
  /**
   * Before the first checkpoint of each thread is copied: the moment to make its session, with the scope it belongs to. Not
   * of a thread that an earlier import has begun.
   */
  beforeThread?: (thread_id: string) => Promise<unknown> | unknown;
}

export interface ImportReport {
  thread_ids: string[];
  checkpoints: number;
  /** Those that an earlier import had brought over. */
  skipped: number;
}

interface Place {
  thread_id: string;
  checkpoint_ns: string;
  checkpoint_id: string;
}

/**
 * Copies threads out of any checkpointer of LangGraph's into ours, whole: every checkpoint under its id, forks, pending
 * writes and interrupts, the namespaces of subgraphs. Leaves the source as it is, and can be repeated after it was cut
 * short. A thread that has gone on here since is refused with `already_exists`.
 */
export async function importThreads(
  from: BaseCheckpointSaver,
  to: CheckpointSaver,
  { thread_ids, beforeThread }: ImportOptions = {},
): Promise<ImportReport> {
  const report: ImportReport = { thread_ids: [], checkpoints: 0, skipped: 0 };
  for (const [thread_id, places] of await placesByThread(from, thread_ids)) {
    if (!(await isBegun(to, thread_id, places))) await beforeThread?.(thread_id);
    for (const place of places) {
      if (await to.getTuple(configOf(place))) report.skipped += 1;
      else if (await copyCheckpoint(from, to, place)) report.checkpoints += 1;
    }
    report.thread_ids.push(thread_id);
  }
  return report;
}

/** Oldest first: ids of checkpoints rise with time, so a parent comes before its children, and the head comes last. */
async function placesByThread(
  from: BaseCheckpointSaver,
  wanted: readonly string[] | undefined,
): Promise<Map<string, Place[]>> {
  const threads = new Map<string, Place[]>();
  const sources: RunnableConfig[] = wanted?.map((thread_id) => ({ configurable: { thread_id } })) ?? [
    { configurable: {} },
  ];
  for (const source of sources) {
    for await (const { config, checkpoint } of from.list(source)) {
      const { thread_id, checkpoint_ns = "" } = config.configurable as Place;
      const places = threads.get(thread_id) ?? [];
      places.push({ thread_id, checkpoint_ns, checkpoint_id: checkpoint.id });
      threads.set(thread_id, places);
    }
  }
  for (const places of threads.values()) places.sort((a, b) => (a.checkpoint_id < b.checkpoint_id ? -1 : 1));
  return threads;
}

/** Whether an earlier import has copied some of it. Refuses a thread that is not at one of these places. */
async function isBegun(to: CheckpointSaver, thread_id: string, places: readonly Place[]): Promise<boolean> {
  const head = await to.getTuple({ configurable: { thread_id, checkpoint_ns: "" } });
  if (!head) return false;
  if (places.some(({ checkpoint_id }) => checkpoint_id === head.checkpoint.id)) return true;
  const message = `Thread ${thread_id} has gone on here since it was imported, or is another one of that id; nothing of it was changed. Delete it here, or leave it out.`;
  throw new AppError("already_exists", message, { details: { thread_id } });
}

async function copyCheckpoint(from: BaseCheckpointSaver, to: CheckpointSaver, place: Place): Promise<boolean> {
  const tuple = await from.getTuple(configOf(place));
  if (!tuple) return false; // deleted while the others were copied
  const parent_id = tuple.parentConfig?.configurable?.["checkpoint_id"] as string | undefined;
  const parent = parent_id ? await to.getTuple(configOf({ ...place, checkpoint_id: parent_id })) : undefined;
  const checkpoint = adopted(tuple.checkpoint);
  const { thread_id, checkpoint_ns } = place;
  const below = { configurable: { thread_id, checkpoint_ns, ...(parent ? { checkpoint_id: parent_id } : {}) } };
  const metadata = tuple.metadata ?? { source: "input", step: -1, parents: {} };
  // The checkpoint last: one that is there is not copied again, and an import that was cut short must have left nothing of it out.
  for (const [i, [task_id, writes]] of [...writesByTask(tuple)].entries()) {
    // In the order in which the other one gives them: it may know the tasks' paths, but does not tell.
    await to.putWrites(configOf(place), writes, task_id, String(i).padStart(10, "0"));
  }
  await to.put(below, checkpoint, metadata, changedVersions(checkpoint, parent?.checkpoint));
  return true;
}

function configOf({ thread_id, checkpoint_ns, checkpoint_id }: Place): RunnableConfig {
  return { configurable: { thread_id, checkpoint_ns, checkpoint_id } };
}

/** Other checkpointers count in plain numbers, which do not compare with the versions that ours will give out. */
function adopted(checkpoint: Checkpoint): Checkpoint {
  const { channel_versions, versions_seen } = checkpoint;
  return {
    ...checkpoint,
    channel_versions: adoptedVersions(channel_versions),
    versions_seen: Object.fromEntries(
      Object.entries(versions_seen).map(([node, seen]) => [node, adoptedVersions(seen)]),
    ),
  } as Checkpoint;
}

function adoptedVersions(versions: ChannelVersions): ChannelVersions {
  return Object.fromEntries(Object.entries(versions).map(([channel, version]) => [channel, adoptVersion(version)]));
}

function changedVersions({ channel_versions }: Checkpoint, parent: Checkpoint | undefined): ChannelVersions {
  const before = parent?.channel_versions ?? {};
  return Object.fromEntries(
    Object.entries(channel_versions).filter(([channel, version]) => version !== before[channel]),
  );
}

function writesByTask({ pendingWrites = [] }: CheckpointTuple): Map<string, PendingWrite[]> {
  const tasks = new Map<string, PendingWrite[]>();
  for (const [task_id, channel, value] of pendingWrites) {
    const writes = tasks.get(task_id) ?? [];
    writes.push([channel, value]);
    tasks.set(task_id, writes);
  }
  return tasks;
}
