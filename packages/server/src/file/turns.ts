/** Work on the same name happens one after another. */
export type Turns = <T>(name: string, work: () => Promise<T>) => Promise<T>;

export function createTurns(): Turns {
  const last = new Map<string, Promise<unknown>>();
  return (name, work) => {
    const turn = (last.get(name) ?? Promise.resolve()).then(work, work);
    last.set(name, turn);
    const clear = () => {
      if (last.get(name) === turn) last.delete(name);
    };
    turn.then(clear, clear);
    return turn;
  };
}
