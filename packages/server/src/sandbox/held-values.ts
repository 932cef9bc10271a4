/** Values by name, for as long as somebody else holds them: a server sees many more sessions than are at work in it. */
export class HeldValues<T extends object> {
  readonly #values = new Map<string, WeakRef<T>>();
  readonly #collected = new FinalizationRegistry<string>((name) => {
    if (this.get(name) === undefined) this.#values.delete(name);
  });

  get(name: string): T | undefined {
    return this.#values.get(name)?.deref();
  }

  getOrMake(name: string, make: () => T): T {
    const known = this.get(name);
    if (known) return known;
    const made = make();
    this.#values.set(name, new WeakRef(made));
    this.#collected.register(made, name);
    return made;
  }

  delete(name: string): void {
    this.#values.delete(name);
  }

  all(): T[] {
    return [...this.#values.values()].flatMap((value) => value.deref() ?? []);
  }

  /** Names that are remembered, also of values that are gone by now. */
  get size(): number {
    return this.#values.size;
  }
}
