import type { Message } from "@cognition/contract";
import type { Insertable, Selectable } from "kysely";
import { jsonText, storedJson } from "./json-text.ts";
import type { Tables } from "./tables.ts";

export type MessageRow = Selectable<Tables["messages"]>;

/** Content is always JSON, a plain string too: U+0000 and unpaired surrogates then survive every engine. */
export function toMessageRow(message: Message, scope: string, position: number | null): Insertable<Tables["messages"]> {
  return {
    ...message,
    scope,
    position,
    left_state: null,
    content: jsonText(message.content, "content"),
    tool_calls: jsonText(message.tool_calls, "tool_calls"),
    metadata: jsonText(message.metadata, "metadata"),
  };
}

/** What somebody gave the row stays. */
export function keptMetadata(row: Pick<MessageRow, "metadata"> | undefined, said: string): string {
  return row && row.metadata !== "{}" ? row.metadata : said;
}

export function toMessage(row: MessageRow): Message {
  const { id, session_id, tool_call_id, token_count, model_used, parent_id, run_id, checkpoint_id, created_at } = row;
  const where = `Message ${id} of session ${session_id}`;
  const metadata = storedJson(row.metadata, where);
  return {
    id,
    session_id,
    role: row.role as Message["role"],
    content: storedJson(row.content, where),
    tool_calls: storedJson(row.tool_calls, where),
    tool_call_id,
    token_count,
    model_used,
    parent_id,
    metadata: row.left_state ? { ...metadata, summarized: true } : metadata,
    run_id,
    checkpoint_id,
    created_at,
  };
}
