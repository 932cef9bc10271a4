import type { MessageFields } from "../checkpoint/message-fields.ts";

/**
 * The messages of a state that have no id: only LangGraph's own reducer gives them one. One that says what a message of the
 * state before says, in the same order, is that message.
 */
export class UnnamedMessages {
  readonly #before: readonly { id: string; said: string }[];
  readonly #now: { id: string; said: string }[] = [];
  /** So many of those before were found, or are gone. */
  #passed = 0;

  constructor(before?: UnnamedMessages) {
    this.#before = before?.#now ?? [];
  }

  /** `fresh` for one that is new. */
  idOf(fields: MessageFields, fresh: string): string {
    const said = JSON.stringify(fields);
    const place = this.#before.findIndex((one, i) => i >= this.#passed && one.said === said);
    const id = this.#before[place]?.id ?? fresh;
    if (place >= 0) this.#passed = place + 1;
    this.#now.push({ id, said });
    return id;
  }
}
