import { MAX_LEASE_MS } from "@cognition/contract";

/** A clock that is set right by seconds, as it is all the time, ends no lease. */
const SET_RIGHT_MS = 60_000;

/**
 * SQL that is true when a lease until then holds nobody off any more. One that ends later than any lease can was taken while the
 * clock was ahead: believed, it would keep what a dead node had until the clock is there again. A live owner that loses what it
 * has by this is refused by the epoch, and nothing of it is written twice.
 */
export function isOver(until: string, nowMs: string): string {
  return `(${until} is null or ${until} <= ${nowMs} or ${until} > ${nowMs} + ${MAX_LEASE_MS + SET_RIGHT_MS})`;
}
