import { Content, Id, JsonObjectInput, Message, ModelName, parseInput, Timestamp } from "@cognition/contract";
import type { NewMessage } from "../message-store.ts";

const NOT_STORABLE = { error: "must not contain U+0000 or unpaired surrogates" };

/** Ids of tool calls are the provider's own, of any length. */
function isStorable(id: string | null): boolean {
  return id === null || (!id.includes("\u0000") && id.isWellFormed());
}

/**
 * No limit on the size of content: what an agent or a tool said must be storable, and what a user may send is limited
 * where it enters, by configuration.
 */
const NewMessageInput = Message.partial().extend({
  id: Id.optional(),
  session_id: Id,
  role: Message.shape.role,
  content: Content,
  tool_call_id: Message.shape.tool_call_id.refine(isStorable, NOT_STORABLE).optional(),
  model_used: ModelName.nullable().optional(),
  parent_id: Id.nullable().optional(),
  metadata: JsonObjectInput.optional(),
  run_id: Id.nullable().optional(),
  checkpoint_id: Id.nullable().optional(),
  created_at: Timestamp.optional(),
});

/** Checks what is given and fills in the rest. */
export function parseNewMessage(message: NewMessage, fill: Pick<Message, "id" | "created_at">): Message {
  parseInput(NewMessageInput, message, "message");
  return {
    id: message.id ?? fill.id,
    session_id: message.session_id,
    role: message.role,
    content: message.content,
    tool_calls: message.tool_calls ?? [],
    tool_call_id: message.tool_call_id ?? null,
    token_count: message.token_count ?? null,
    model_used: message.model_used ?? null,
    parent_id: message.parent_id ?? null,
    metadata: message.metadata ?? {},
    run_id: message.run_id ?? null,
    checkpoint_id: message.checkpoint_id ?? null,
    created_at: message.created_at ?? fill.created_at,
  };
}
