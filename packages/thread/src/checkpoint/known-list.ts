import { isUnchanged, type Shadow } from "./shadow.ts";

/** What is stored, as which piece, and what it looked like then; a text has no shadow to compare. */
export interface Known {
  id: number;
  shadow: Shadow;
}

/** No piece has this number. A number all the same, so that the engine keeps the numbers themselves in the array. */
const NOT_STORED = -1;

/**
 * The elements of a long list when it was last encoded: most of them stand in the same places the next time. Their
 * shadows lie one after the other, since a long list is gone through several times in each step, and following a
 * pointer from element to element took twice as long.
 */
export class KnownList {
  readonly #elements: unknown[] = [];
  readonly #ids: number[] = [];
  readonly #shadows: Shadow = [];
  /** Where the shadow of each element ends, and that of the next one begins. */
  readonly #ends: number[] = [];

  get length(): number {
    return this.#elements.length;
  }

  /** How many elements, from the first on, stand where they stood and are stored. Whether they changed it doesn't tell. */
  sameUpTo(list: readonly unknown[]): number {
    const end = Math.min(list.length, this.length);
    let place = 0;
    while (place < end && Object.is(list[place], this.#elements[place]) && this.#ids[place] !== NOT_STORED) place++;
    return place;
  }

  /** Whether the first `count` elements are what they were when they were stored. */
  isUnchanged(count: number): boolean {
    return isUnchanged(this.#shadows, 0, this.#startOf(count));
  }

  /** The pieces of the elements; those that are not stored have none. */
  get ids(): readonly number[] {
    return this.#ids;
  }

  /** The piece of the element that stood in this place the last time too, and is what it was. */
  find(place: number, element: unknown): number | undefined {
    const id = this.#ids[place];
    if (id === undefined || id === NOT_STORED || !Object.is(this.#elements[place], element)) return undefined;
    return isUnchanged(this.#shadows, this.#startOf(place), this.#ends[place] as number) ? id : undefined;
  }

  /** Places are filled from the first on; one beyond the end is not remembered. */
  remember(place: number, element: unknown, known: Known | undefined): void {
    if (place > this.length) return;
    const start = this.#startOf(place);
    const shadow = known?.shadow ?? [];
    if (this.#ends[place] !== start + shadow.length) this.cut(place);
    this.#elements[place] = element;
    this.#ids[place] = known?.id ?? NOT_STORED;
    this.#ends[place] = start + shadow.length;
    for (let i = 0; i < shadow.length; i++) this.#shadows[start + i] = shadow[i];
  }

  /** Forgets what stands from this place on. */
  cut(place: number): void {
    if (place >= this.length) return;
    this.#shadows.length = this.#startOf(place);
    this.#elements.length = place;
    this.#ids.length = place;
    this.#ends.length = place;
  }

  #startOf(place: number): number {
    return place === 0 ? 0 : (this.#ends[place - 1] as number);
  }
}
