/** Makes room for one more where there are so many: a map and a set keep the order in which things were put in. */
export function forgetOldest(kept: Map<unknown, unknown> | Set<unknown>, most: number): void {
  if (kept.size < most) return;
  const [oldest] = kept.keys();
  kept.delete(oldest);
}
