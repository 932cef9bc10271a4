interface Entry {
  readonly element: HTMLElement;
  /** The event that it came with; 0 for what is stored. */
  readonly at: number;
  /** Its text, piece by piece, each with the event that brought it; undefined once all of it is known. */
  pieces: [at: number, node: Text][] | undefined;
}

/**
 * What is in the log, each thing under the id that the server gives it. Whoever comes back in the middle of a run is told of
 * everything again: what stands there already is then not there a second time.
 */
export interface LogView {
  /** The element of this id; made, and put in at the end, where there is none. */
  place(id: string, at: number, make: () => HTMLElement, within?: Element): HTMLElement;
  /** The whole of its text. What comes of it afterwards is nothing new. */
  write(id: string, text: string): void;
  /** A piece of it. A folded one replaces all since the event `from`. */
  append(id: string, at: number, text: string, from?: number): void;
  /** After a crash the step is done again: what came later than this event does not count. */
  discardAfter(at: number): void;
  remove(id: string): void;
  /** What is placed meanwhile goes before all that is there. */
  atStart(work: () => void): void;
  clear(): void;
}

export function createLogView(log: HTMLElement): LogView {
  const entries = new Map<string, Entry>();
  let before: ChildNode | null = null;

  function remove(id: string): void {
    entries.get(id)?.element.remove();
    entries.delete(id);
  }

  function keep(entry: Entry, isKept: (at: number) => boolean): void {
    for (const [at, node] of entry.pieces ?? []) if (!isKept(at)) node.remove();
    entry.pieces = entry.pieces?.filter(([at]) => isKept(at));
  }

  return {
    place(id, at, make, within = log) {
      const known = entries.get(id);
      if (known) return known.element;
      const made = make();
      entries.set(id, { element: made, at, pieces: [] });
      within.insertBefore(made, within === log ? before : null);
      return made;
    },
    write(id, text) {
      const entry = entries.get(id);
      if (!entry) return;
      entry.element.textContent = text;
      entry.pieces = undefined;
    },
    append(id, at, text, from = at) {
      const entry = entries.get(id);
      if (!entry?.pieces) return;
      keep(entry, (each) => each < from);
      const node = document.createTextNode(text);
      entry.pieces.push([at, node]);
      entry.element.append(node);
    },
    discardAfter(at) {
      for (const [id, entry] of entries) {
        if (entry.at > at) remove(id);
        else keep(entry, (each) => each <= at);
      }
    },
    remove,
    atStart(work) {
      before = log.firstChild;
      work();
      before = null;
    },
    clear() {
      entries.clear();
      log.replaceChildren();
    },
  };
}
