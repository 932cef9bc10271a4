const DEADLINE_MS = 50_000;

/** Takes from the iterable until the condition holds for what came, and fails with that when it doesn't in time. */
export async function collect<T>(items: AsyncIterable<T>, until: (taken: readonly T[]) => boolean): Promise<T[]> {
  const taken: T[] = [];
  const iterator = items[Symbol.asyncIterator]();
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => late.reject(new Error(`waited ${DEADLINE_MS} ms; so far came ${JSON.stringify(taken).slice(-2_000)}`)),
    DEADLINE_MS,
  );
  try {
    while (!until(taken)) {
      const step = await Promise.race([iterator.next(), late.promise]);
      if (step.done) throw new Error(`ended too early, after ${JSON.stringify(taken).slice(-2_000)}`);
      taken.push(step.value);
    }
    return taken;
  } finally {
    clearTimeout(timer);
    await iterator.return?.();
  }
}

/** The promise's value, or an error by this name when it takes too long. */
export async function inTime<T>(fact: string, promise: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`waited ${DEADLINE_MS} ms in vain for ${fact}`)), DEADLINE_MS);
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
