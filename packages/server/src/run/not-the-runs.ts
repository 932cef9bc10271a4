import type { ErrorCode } from "@cognition/contract";

/** The storage can't be asked now: another attempt will do. */
export const AWAY: readonly ErrorCode[] = ["storage_unavailable", "storage_busy"];

/** Errors that say nothing of the run: it is not this node's any more, or the storage is away. */
export const NOT_THE_RUNS: readonly ErrorCode[] = [
  "stale_epoch",
  "run_ended",
  "run_not_found",
  "thread_deleted",
  "session_not_found",
  "storage_closed",
  ...AWAY,
];
