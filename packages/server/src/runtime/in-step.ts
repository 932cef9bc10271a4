/**
 * So many at a time. The processor then finds the same code where the run before has left it: twenty side by side take
 * three fifths of the time of twenty one after the other. With many more nobody's request would be heard meanwhile.
 */
const SIDE_BY_SIDE = 20;

/** Lets runs that are ready in the same turn of the event loop go on together, step by step. */
export function createInStep(): () => Promise<void> {
  const waiting: (() => void)[] = [];

  function release(): void {
    for (const goOn of waiting.splice(0, SIDE_BY_SIDE)) goOn();
    if (waiting.length > 0) setImmediate(release);
  }

  return () =>
    new Promise((resolve) => {
      if (waiting.push(resolve) === 1) setImmediate(release);
    });
}
