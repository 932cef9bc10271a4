import { emptyCheckpoint } from "@langchain/langgraph-checkpoint";
import type { Storage } from "../storage.ts";

/** A checkpoint as a graph would put it, with one channel. */
export async function putCheckpoint(storage: Storage, thread_id: string): Promise<void> {
  const saver = await storage.getCheckpointer();
  const newVersions = { note: saver.getNextVersion(undefined) };
  const checkpoint = { ...emptyCheckpoint(), channel_values: { note: "kept" }, channel_versions: newVersions };
  const config = { configurable: { thread_id, checkpoint_ns: "" } };
  await saver.put(config, checkpoint, { source: "input", step: -1, parents: {} }, newVersions);
}

/** The values of the thread's newest checkpoint. */
export async function readCheckpoint(storage: Storage, thread_id: string): Promise<unknown> {
  const saver = await storage.getCheckpointer();
  return (await saver.getTuple({ configurable: { thread_id } }))?.checkpoint.channel_values;
}
