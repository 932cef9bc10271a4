/** Asks `look`, or shares what somebody else asks under the same key. */
export type SharedLooks = <T>(key: string, look: () => Promise<T>) => Promise<T>;

/**
 * Many who ask for the same at once share one look. Whoever comes while one is under way gets the next, which begins
 * after he asked: nobody is told what was true before.
 */
export function createSharedLooks(): SharedLooks {
  const running = new Map<string, Promise<unknown>>();
  const waiting = new Map<string, Promise<unknown>>();

  function begin<T>(key: string, look: () => Promise<T>): Promise<T> {
    const looking = look().finally(() => {
      if (running.get(key) === looking) running.delete(key);
    });
    running.set(key, looking);
    return looking;
  }

  return <T>(key: string, look: () => Promise<T>): Promise<T> => {
    const current = running.get(key);
    if (!current) return begin(key, look);
    const next =
      waiting.get(key) ??
      current
        .catch(() => undefined) // its own askers are told
        .then(() => {
          waiting.delete(key);
          return begin(key, look);
        });
    waiting.set(key, next);
    return next as Promise<T>;
  };
}
