import type { RunnableConfig } from "@langchain/core/runnables";
import { BaseCheckpointSaver, type Checkpoint, type CheckpointTuple } from "@langchain/langgraph-checkpoint";

/**
 * Takes everything and keeps nothing: what LangGraph itself does for a checkpointer (a checkpoint made at every
 * superstep, its writes gathered, two promises awaited) and no saver can save.
 */
export class NullSaver extends BaseCheckpointSaver {
  async getTuple(): Promise<CheckpointTuple | undefined> {
    return undefined;
  }

  async *list(): AsyncGenerator<CheckpointTuple> {}

  async put(config: RunnableConfig, checkpoint: Checkpoint): Promise<RunnableConfig> {
    const { thread_id, checkpoint_ns } = config.configurable ?? {};
    return { configurable: { thread_id, checkpoint_ns: checkpoint_ns ?? "", checkpoint_id: checkpoint.id } };
  }

  async putWrites(): Promise<void> {}

  async deleteThread(): Promise<void> {}
}
