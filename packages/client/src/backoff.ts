import { isAppError } from "@cognition/contract/app-error";

/** Resolves after so many milliseconds; rejects with the signal's reason as soon as it aborts. */
export type Wait = (ms: number, signal?: AbortSignal) => Promise<void>;

export interface Backoff {
  /** Milliseconds before the attempt after so many that failed: at least what the server asked for, and never all clients at once. */
  delay(failures: number, retry: number | undefined, after: number | undefined): number;
}

const FIRST_MS = 500;
const LONGEST_MS = 30_000;
/** However long a server asks for: a timer of more than 24 days would end at once. */
const LONGEST_ASKED_MS = 3_600_000;

export function createBackoff(random: () => number): Backoff {
  return {
    delay(failures, retry, after = 0) {
      const base = Math.min(LONGEST_MS, (retry ?? FIRST_MS) * 2 ** Math.max(0, failures - 1));
      const floor = Math.max(base, Math.min(after, LONGEST_ASKED_MS));
      return Math.round(floor + (base / 4) * random());
    },
  };
}

/** The pause that an answer asked for, in milliseconds. */
export function retryAfter(error: unknown): number | undefined {
  const seconds = isAppError(error) ? Number(error.details["retry_after"]) : Number.NaN;
  return Number.isFinite(seconds) ? seconds * 1000 : undefined;
}

export const wait: Wait = (ms, signal) =>
  new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    signal?.addEventListener("abort", stop, { once: true });
  });
