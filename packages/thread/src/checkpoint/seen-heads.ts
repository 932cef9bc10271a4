import type { Writer } from "./lease.ts";

/**
 * The root head that each invocation of a graph has seen, by thread: what it puts must come right after it. Goes with the
 * invocation.
 */
export class SeenHeads {
  readonly #heads = new WeakMap<object, Map<string, string | null | undefined>>();

  note({ invocation }: Writer, thread_id: string, head: string | null): void {
    if (!invocation) return;
    this.#of(invocation).set(thread_id, head);
  }

  /** It has read the newest, to go on from there: unless it began elsewhere, and only looks whether that is the newest. */
  noteNewest(writer: Writer, thread_id: string, head: string | null): void {
    if (!this.#branches(writer, thread_id)) this.note(writer, thread_id, head);
  }

  /** It has read a checkpoint by its id. If that is the first thing it does, it means to branch. */
  noteNamed({ invocation }: Writer, thread_id: string): void {
    if (!invocation) return;
    const heads = this.#of(invocation);
    if (!heads.has(thread_id)) heads.set(thread_id, undefined);
  }

  /** Null for a thread without checkpoints, undefined if it has not looked, branches or has no invocation. */
  find({ invocation }: Writer, thread_id: string): string | null | undefined {
    return invocation && this.#heads.get(invocation)?.get(thread_id);
  }

  #branches({ invocation }: Writer, thread_id: string): boolean {
    const heads = invocation && this.#heads.get(invocation);
    return heads?.has(thread_id) === true && heads.get(thread_id) === undefined;
  }

  #of(invocation: object): Map<string, string | null | undefined> {
    const known = this.#heads.get(invocation);
    if (known) return known;
    const heads = new Map<string, string | null | undefined>();
    this.#heads.set(invocation, heads);
    return heads;
  }
}
