/** More threads than are updated at a time, and more heads than one is at meanwhile. */
const THREADS = 1_000;
const HEADS = 16;

/**
 * `updateState` is no invocation: nothing tells its read and its put apart from those of another one. So for each
 * checkpoint it is known how it was last asked for: as the newest, to go on from it; or by its id, to branch off.
 */
export class ReadHeads {
  readonly #threads = new Map<string, Map<string | null, boolean>>();

  note(thread_id: string, checkpoint_id: string | null, asNewest: boolean): void {
    const heads = this.#threads.get(thread_id) ?? new Map<string | null, boolean>();
    keep(this.#threads, thread_id, heads, THREADS);
    keep(heads, checkpoint_id, asNewest, HEADS);
  }

  wasNewest(thread_id: string, checkpoint_id: string | null): boolean {
    return this.#threads.get(thread_id)?.get(checkpoint_id) ?? false;
  }
}

/** As the youngest; the oldest makes room for it. */
function keep<K, V>(map: Map<K, V>, key: K, value: V, most: number): void {
  map.delete(key);
  map.set(key, value);
  if (map.size > most) map.delete(map.keys().next().value as K);
}
