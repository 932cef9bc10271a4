export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

export function quantile(values: readonly number[], q: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (sorted.length - 1) * q;
  const [low, high] = [sorted[Math.floor(at)], sorted[Math.ceil(at)]];
  if (low === undefined || high === undefined) throw new Error("There is no median of nothing");
  return low + (high - low) * (at - Math.floor(at));
}

/** Over the rounds; null if there is nothing to be said in any of them. */
export function medianOf<T>(rounds: readonly T[], pick: (round: T) => number | null): number | null {
  const values = rounds.map(pick).filter((value) => value !== null);
  return values.length === 0 ? null : median(values);
}
