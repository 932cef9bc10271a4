import { AppError, MAX_THREAD_ID_LENGTH } from "@cognition/contract";
import type { RunnableConfig } from "@langchain/core/runnables";

/** Which checkpoint a config means; without an id, the newest. */
export interface Place {
  thread_id: string;
  ns: string;
  checkpoint_id: string | undefined;
}

export function placeOf({ configurable }: RunnableConfig): Place | undefined {
  const { thread_id, checkpoint_ns, checkpoint_id, thread_ts } = configurable ?? {};
  if (thread_id === undefined || thread_id === null) return undefined;
  return {
    thread_id: String(thread_id),
    ns: checkpoint_ns ?? "",
    checkpoint_id: checkpoint_id || thread_ts || undefined,
  };
}

export function requirePlace(config: RunnableConfig): Place {
  const place = placeOf(config);
  if (!place || place.thread_id === "") throw missing("thread_id");
  if (place.thread_id.length > MAX_THREAD_ID_LENGTH) {
    throw new AppError(
      "validation_failed",
      `thread_id has ${place.thread_id.length} characters; at most ${MAX_THREAD_ID_LENGTH} are allowed`,
    );
  }
  return place;
}

export function missing(key: string): AppError {
  return new AppError(
    "validation_failed",
    `The config has no configurable.${key}: the checkpointer can't tell where to write`,
  );
}
