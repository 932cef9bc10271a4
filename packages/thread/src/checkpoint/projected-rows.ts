import { hash } from "node:crypto";
import type { MessageFields } from "./message-fields.ts";
import { type ProjectedChange, type ProjectedMessage, projectedMessages } from "./project-checkpoint.ts";

/** What a row says that its checkpoint says too. */
export type ShownFields = Pick<MessageFields, "role" | "content" | "tool_calls" | "tool_call_id">;

/** After a rebuild nobody knows which messages are the run's; the last ones are. */
const LAST_ONES = 16;

/**
 * What one run's checkpoints have made of the conversation, in few bytes: enough to see at its end whether the rows still
 * say so, without reading the state again. The cost is that of what the run has said, not of the conversation.
 */
export class ProjectedRows {
  readonly session_id: string;
  /** The first checkpoint that the run wrote, in this attempt. */
  readonly first: string;
  readonly #prints = new Map<string, string>();

  constructor(session_id: string, first: string) {
    this.session_id = session_id;
    this.first = first;
  }

  /** The next checkpoint's list, and what it changed; without that, all rows are being made anew. */
  follow(messages: unknown, change: Pick<ProjectedChange, "changed" | "stayed"> | undefined): void {
    const list = Array.isArray(messages) ? messages : [];
    if (!change) {
      this.#prints.clear();
      this.#expect(projectedMessages(list.slice(-LAST_ONES)));
      return;
    }
    if (change.stayed) this.#forgetOthers(new Set(change.stayed));
    this.#expect(change.changed);
  }

  get ids(): string[] {
    return [...this.#prints.keys()];
  }

  /** Whether the row says what the checkpoint does. */
  agrees(id: string, fields: ShownFields): boolean {
    return this.#prints.get(id) === printOf(fields);
  }

  #expect(messages: readonly ProjectedMessage[]): void {
    for (const { id, fields } of messages) this.#prints.set(id, printOf(fields));
  }

  #forgetOthers(staying: ReadonlySet<string>): void {
    for (const id of this.#prints.keys()) if (!staying.has(id)) this.#prints.delete(id);
  }
}

/** Shorter than this it is kept as it is. */
const SHORT = 200;

function printOf({ role, content, tool_calls, tool_call_id }: ShownFields): string {
  const text = JSON.stringify([role, content, tool_calls, tool_call_id]);
  return text.length < SHORT ? text : hash("sha1", text, "base64");
}
