import { inspect } from "node:util";
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
    thread_id: threadIdOf(thread_id),
    ns: checkpoint_ns ?? "",
    checkpoint_id: checkpoint_id || thread_ts || undefined,
  };
}

export function requirePlace(config: RunnableConfig): Place {
  const place = placeOf(config);
  if (!place || place.thread_id === "") throw missing("thread_id");
  requireThreadId(place.thread_id);
  return place;
}

/** A number is as good as its text. Of anything else the text would be the same for many: all objects would share a thread. */
export function threadIdOf(value: unknown): string {
  if (typeof value === "string" || typeof value === "bigint" || Number.isFinite(value)) return String(value);
  throw new AppError("validation_failed", `thread_id must be a text or a number, not ${inspect(value, { depth: 0 })}`);
}

/** As `threadIdOf`, of a thread that is to be written to. */
export function requireThreadId(value: unknown): string {
  const id = threadIdOf(value);
  if (id !== "" && id.length <= MAX_THREAD_ID_LENGTH) return id;
  throw new AppError(
    "validation_failed",
    `thread_id has ${id.length} characters; 1 to ${MAX_THREAD_ID_LENGTH} are allowed`,
  );
}

export function missing(key: string): AppError {
  return new AppError(
    "validation_failed",
    `The config has no configurable.${key}: the checkpointer can't tell where to write`,
  );
}
