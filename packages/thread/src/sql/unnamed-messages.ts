import type { MessageFields } from "../checkpoint/message-fields.ts";

interface Unnamed {
  id: string;
  said: string;
}

/**
 * The messages of a state that have no id: only LangGraph's own reducer gives them one. One that says what a message of the
 * state before says, in the same order, is that message.
 */
export class UnnamedMessages {
  readonly #before: readonly Unnamed[];
  readonly #now: Unnamed[];
  /** So many of those before were found, or are gone. */
  #passed = 0;

  constructor(before: readonly Unnamed[] = [], now: Unnamed[] = []) {
    this.#before = before;
    this.#now = now;
  }

  /** Of the next state, which holds all that this one does, and more. */
  grown(): UnnamedMessages {
    return new UnnamedMessages([], this.#now);
  }

  /** Of the next state, all of whose messages are to be asked for. */
  changed(): UnnamedMessages {
    return new UnnamedMessages(this.#now);
  }

  /** A new one is called by the checkpoint that was the first to hold it. */
  idOf(fields: MessageFields | undefined, checkpoint_id: string): string {
    const said = JSON.stringify(fields ?? null);
    const place = this.#before.findIndex((one, i) => i >= this.#passed && one.said === said);
    const id = this.#before[place]?.id ?? `${checkpoint_id}:${this.#now.length}`;
    if (place >= 0) this.#passed = place + 1;
    this.#now.push({ id, said });
    return id;
  }
}
