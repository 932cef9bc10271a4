const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** After the first failure, the second, and so on: a receiver that is away for a working day gets its callback. */
const DELAYS: readonly number[] = [
  5 * SECOND,
  30 * SECOND,
  2 * MINUTE,
  10 * MINUTE,
  30 * MINUTE,
  HOUR,
  2 * HOUR,
  4 * HOUR,
  8 * HOUR,
];

/** A fifth more at random, so that what failed together does not come back together. */
const JITTER = 0.2;

/** Milliseconds until the next attempt, or undefined after the last: then it is a dead letter. */
export function nextAttemptMs(failures: number, random: () => number, retryAfterMs = 0): number | undefined {
  const delay = DELAYS[failures - 1];
  if (delay === undefined) return undefined;
  const longest = DELAYS.at(-1) ?? 0;
  return Math.round(Math.max(delay * (1 + JITTER * random()), Math.min(retryAfterMs, longest)));
}

/** `Retry-After` as seconds or as a date; 0 where there is none. */
export function retryAfterMs(header: string | undefined, now: number): number {
  if (header === undefined) return 0;
  if (/^\d{1,9}$/.test(header.trim())) return Number(header) * SECOND;
  const at = Date.parse(header);
  return Number.isNaN(at) ? 0 : Math.max(0, at - now);
}
