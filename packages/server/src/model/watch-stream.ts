import { AppError } from "@cognition/contract";
import type { Timeouts } from "./timeouts.ts";

export interface WatchOptions {
  readonly provider_id: string;
  readonly timeouts: Timeouts;
  readonly signal: AbortSignal | undefined;
}

/**
 * Passes on what `open` streams. Rejects as soon as the caller aborts, or when a piece takes longer than allowed, even where
 * the source ignores its signal; the source is told either way.
 */
export async function* watchStream<T>(
  open: (signal: AbortSignal) => AsyncIterable<T>,
  { provider_id, timeouts, signal }: WatchOptions,
): AsyncGenerator<T> {
  const stop = new AbortController();
  const stopped = rejection(stop.signal);
  const onAbort = () => stop.abort(signal?.reason);
  if (signal?.aborted) onAbort();
  signal?.addEventListener("abort", onAbort, { once: true });
  const total = setTimeout(() => stop.abort(tooSlow(provider_id, "total", timeouts.totalMs)), timeouts.totalMs);
  let waited: "firstToken" | "idle" = "firstToken";
  try {
    const source = open(stop.signal)[Symbol.asyncIterator]();
    while (true) {
      const ms = timeouts[`${waited}Ms`];
      const timer = setTimeout(stop.abort.bind(stop, tooSlow(provider_id, waited, ms)), ms);
      const next = await Promise.race([source.next(), stopped.promise]).finally(() => clearTimeout(timer));
      if (next.done) return;
      waited = "idle";
      yield next.value;
      // Between two pieces nobody waits on `stopped`, so an abort that came meanwhile is seen here.
      stop.signal.throwIfAborted();
    }
  } finally {
    clearTimeout(total);
    signal?.removeEventListener("abort", onAbort);
    stopped.dispose();
    // Ends the request of a consumer that left, and of a source that hangs. Its own rejection is not news any more.
    stop.abort(new AppError("aborted", "The model call has ended."));
  }
}

function rejection(signal: AbortSignal): { promise: Promise<never>; dispose: () => void } {
  let listener = () => {};
  const promise = new Promise<never>((_, reject) => {
    listener = () => reject(signal.reason);
    signal.addEventListener("abort", listener, { once: true });
  });
  // Nobody may be waiting when it rejects: without a handler that would take the process down.
  promise.catch(() => undefined);
  return { promise, dispose: () => signal.removeEventListener("abort", listener) };
}

const WHAT = {
  firstToken: "sent nothing of its answer",
  idle: "stopped in the middle of its answer and sent nothing more",
  total: "did not come to the end of its answer",
};

function tooSlow(provider_id: string, timeout: keyof typeof WHAT, ms: number): AppError {
  return new AppError("model_timeout", `The provider ${provider_id} ${WHAT[timeout]} within ${ms} ms.`, {
    details: { provider_id, timeout, timeout_ms: ms },
  });
}
