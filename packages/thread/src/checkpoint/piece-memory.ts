import { hash, randomInt } from "node:crypto";
import type { Known } from "./known-list.ts";
import { isUnchanged } from "./shadow.ts";

/**
 * A process numbers its pieces within a block that it picks at random, so it need not ask anyone. Should two blocks
 * of one lineage ever be the same, the primary key refuses the second writer; nothing is overwritten.
 */
const BLOCK = 2 ** 20;
const BLOCKS = 2 ** 33;
/** Numbers that a stream takes at a time: its elements stay neighbours though other streams grow in between. */
const STREAM_CHUNK = 1024;
const CONTENTS_KEPT = 20_000;

/** What is known of pieces: of those that are stored, or, on top of that, of those that one write will store. */
export class PieceMemory {
  #below: PieceMemory | undefined;
  readonly #numbers: PieceNumbers;
  /** A memory of what is not stored yet is short-lived and can list what it holds; the lasting one holds nobody alive. */
  readonly #objects: Map<object, Known> | WeakMap<object, Known>;
  readonly #contents = new Map<string, number>();

  constructor(below?: PieceMemory) {
    this.#below = below;
    this.#numbers = below ? below.#numbers : new PieceNumbers();
    this.#objects = below ? new Map() : new WeakMap();
  }

  /** The piece that holds exactly what the object is now; an object that was changed in place is a stranger. */
  find(object: object): Known | undefined {
    const known = this.#objects.get(object);
    if (known === undefined) return this.#below?.find(object);
    if (isUnchanged(known.shadow)) return known;
    this.#objects.delete(object);
    return undefined;
  }

  remember(object: object, known: Known): void {
    this.#objects.set(object, known);
  }

  /** The piece that holds these bytes. */
  findContent(hash: string): number | undefined {
    return this.#contents.get(hash) ?? this.#below?.findContent(hash);
  }

  rememberContent(hash: string, id: number): void {
    if (this.#contents.size >= CONTENTS_KEPT) this.#contents.delete(this.#contents.keys().next().value as string);
    this.#contents.set(hash, id);
  }

  /** What was below is stored by now and known to `stored`; without this, layers would pile up for ever. */
  settleOn(stored: PieceMemory): void {
    this.#below = stored;
  }

  /** Passes on what this layer knows, once it is as good as the other's. */
  mergeInto(other: PieceMemory): void {
    for (const [object, known] of this.#objects as Map<object, Known>) other.remember(object, known);
    for (const [hash, id] of this.#contents) other.rememberContent(hash, id);
  }

  nextNumber(stream: string): number {
    return this.#numbers.next(stream);
  }
}

/** Of a piece as it is stored. */
export function contentHash(value: Uint8Array | string): string {
  return hash("sha256", value, "base64");
}

class PieceNumbers {
  readonly #streams = new Map<string, { next: number; end: number }>();
  #next = 0;
  #end = 0;

  next(stream: string): number {
    let range = this.#streams.get(stream);
    if (range === undefined || range.next === range.end) {
      range = this.#takeChunk();
      this.#streams.set(stream, range);
    }
    return range.next++;
  }

  #takeChunk(): { next: number; end: number } {
    if (this.#next === this.#end) {
      this.#next = randomInt(BLOCKS) * BLOCK;
      this.#end = this.#next + BLOCK;
    }
    const next = this.#next;
    this.#next += STREAM_CHUNK;
    return { next, end: this.#next };
  }
}
