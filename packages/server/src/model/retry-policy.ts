export interface RetrySettings {
  readonly baseMs: number;
  readonly maxMs: number;
  /** A provider that asks for a longer pause than this is not waited for: the run would look hung. */
  readonly maxRetryAfterMs: number;
}

export const DEFAULT_RETRY: RetrySettings = { baseMs: 500, maxMs: 8_000, maxRetryAfterMs: 60_000 };

/**
 * How long to wait before the next attempt, or undefined where the provider asked for more patience than we have. What the
 * provider asks for is a floor; the jitter on top keeps callers that failed together from coming back together.
 */
export function retryDelay(
  attempt: number,
  retryAfterMs: number | undefined,
  random: () => number,
  settings: RetrySettings = DEFAULT_RETRY,
): number | undefined {
  const ceiling = Math.min(settings.maxMs, settings.baseMs * 2 ** attempt);
  if (retryAfterMs === undefined) return Math.round(ceiling / 2 + (ceiling / 2) * random());
  if (retryAfterMs > settings.maxRetryAfterMs) return undefined;
  return Math.round(retryAfterMs + Math.min(ceiling, 250) * random());
}

/** The pause that a response's headers ask for: `retry-after-ms`, or `retry-after` in seconds or as a date. */
export function readRetryAfter(headers: Headers | undefined, now: number): number | undefined {
  const ms = Number.parseFloat(headers?.get("retry-after-ms") ?? "");
  if (Number.isFinite(ms) && ms >= 0) return ms;
  const header = headers?.get("retry-after");
  if (!header) return undefined;
  if (/^\s*\d+(\.\d+)?\s*$/.test(header)) return Number.parseFloat(header) * 1000;
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
