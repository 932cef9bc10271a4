let turn: Promise<void> | undefined;
let began: number | undefined;

/**
 * After what this turn of the event loop still brings. All who wait go on together, step by step side by side: one after
 * the other, each to where it waits again, they would take half as long again, since the processor has to learn the
 * same code anew for each.
 */
export function nextTurn(): Promise<void> {
  turn ??= new Promise((resolve) => {
    setImmediate(() => {
      turn = undefined;
      resolve();
    });
  });
  return turn;
}

/** For how many milliseconds this turn of the event loop has been asked about: 0 when it is asked for the first time. */
export function turnAge(): number {
  const now = performance.now();
  if (began === undefined) {
    setImmediate(() => {
      began = undefined;
    });
  }
  began ??= now;
  return now - began;
}

/** So long one piece of work may hold the process: timers and requests are heard after that. */
export const LONGEST_TURN_MS = 5;

/** Lets others have their turn, where this one has lasted so long already. */
export async function giveWayAfter(ms: number): Promise<void> {
  if (turnAge() >= ms) await nextTurn();
}
