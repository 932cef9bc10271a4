/** Lets one piece of work in at a time, in the order of asking. */
export interface Turns {
  take<T>(work: () => Promise<T>): Promise<T>;
}

export function createTurns(): Turns {
  let previous: Promise<unknown> = Promise.resolve();
  return {
    take(work) {
      const turn = previous.then(work);
      // Whoever asked is told of the failure; the next one only waits for the end.
      previous = turn.then(
        () => {},
        () => {},
      );
      return turn;
    },
  };
}
