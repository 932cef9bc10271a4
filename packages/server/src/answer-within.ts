import { setTimeout as delay } from "node:timers/promises";

/** What the work comes to; or, once it has taken too long, what else there is to say, or to throw. */
export async function answerWithin<T>(ms: number, work: Promise<T>, otherwise: () => T): Promise<T> {
  const done = new AbortController();
  const late = delay(ms, undefined, { signal: done.signal }).then(otherwise);
  late.catch(() => undefined); // the work was in time
  try {
    return await Promise.race([work, late]);
  } finally {
    done.abort();
  }
}
