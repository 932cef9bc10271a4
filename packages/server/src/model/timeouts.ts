export interface Timeouts {
  /** Until the provider's answer begins (its response headers). */
  readonly connectMs: number;
  /** Until the first piece of the answer, counted from the request. */
  readonly firstTokenMs: number;
  /** Between two pieces. */
  readonly idleMs: number;
  readonly totalMs: number;
}

// A long answer is fine as long as it moves; this only ends one that would never stop.
const TOTAL_FACTOR = 10;

/** A provider's `timeout_ms` is the longest silence it is granted, wherever in the call it falls. */
export function timeoutsOf(provider: { readonly timeout_ms: number }, overrides: Partial<Timeouts> = {}): Timeouts {
  const silence = provider.timeout_ms;
  return {
    connectMs: silence,
    firstTokenMs: silence,
    idleMs: silence,
    totalMs: silence * TOTAL_FACTOR,
    ...overrides,
  };
}
