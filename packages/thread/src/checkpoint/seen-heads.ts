import type { Writer } from "./lease.ts";

/**
 * The root head that each invocation of a graph has seen, by thread: what it puts must come right after it. Goes with the
 * invocation.
 */
export class SeenHeads {
  readonly #heads = new WeakMap<object, Map<string, string | null>>();

  note({ invocation }: Writer, thread_id: string, head: string | null): void {
    if (!invocation) return;
    const heads = this.#heads.get(invocation) ?? new Map<string, string | null>();
    heads.set(thread_id, head);
    this.#heads.set(invocation, heads);
  }

  /** Null for a thread without checkpoints, undefined if it has not looked or has no invocation. */
  find({ invocation }: Writer, thread_id: string): string | null | undefined {
    return invocation && this.#heads.get(invocation)?.get(thread_id);
  }
}
