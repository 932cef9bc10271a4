import type { KnownList } from "./known-list.ts";

/**
 * Long lists of which a write took the beginning to be what it was, without looking. They are looked through once for
 * all writes of a commit, at the latest before it: a step's sends carry the same conversation as the checkpoint right
 * after them, and comparing all of it twice took longer than everything else that is done for a step.
 */
export class AssumedLists {
  readonly #lists = new Map<KnownList, number>();
  #wrong = false;

  assume(list: KnownList, count: number): void {
    this.#lists.set(list, Math.max(count, this.#lists.get(list) ?? 0));
  }

  assumedOf(list: KnownList): number {
    return this.#lists.get(list) ?? 0;
  }

  /** All of the list that matters was just looked at, and is what it was. */
  confirm(list: KnownList): void {
    this.#lists.delete(list);
  }

  /** Looks at what was assumed of the list, before it is noted down anew. */
  settle(list: KnownList): void {
    const count = this.#lists.get(list);
    if (count === undefined) return;
    this.#lists.delete(list);
    if (!list.isUnchanged(count)) this.#wrong = true;
  }

  /** Looks at the rest. Whether all that was ever assumed is true. */
  settleAll(): boolean {
    for (const list of [...this.#lists.keys()]) this.settle(list);
    return !this.#wrong;
  }
}
