import type { CheckpointSaver as SqlCheckpointSaver } from "./checkpoint/checkpoint-saver.ts";

/** LangGraph's checkpointer, with all that ours promises beyond it: its methods say what. Whoever writes another needs no more. */
export type CheckpointSaver = Pick<SqlCheckpointSaver, keyof SqlCheckpointSaver>;
