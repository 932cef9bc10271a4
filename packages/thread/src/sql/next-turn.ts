let turn: Promise<void> | undefined;

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
