import type { ChatMessage } from "@cognition/contract";
import type { Insertable, Selectable } from "kysely";
import type { Database } from "./database.ts";
import { storedJson } from "./json-text.ts";
import { type Statement, statement } from "./statement.ts";
import type { Tables } from "./tables.ts";

/** Content is JSON, as in messages: U+0000 and unpaired surrogates then survive every engine. */
export function chatMessageRow(scope: string, message: Omit<ChatMessage, "id">): Insertable<Tables["chat_messages"]> {
  return { ...message, scope, content: JSON.stringify(message.content) };
}

export function insertChatMessage(db: Database, row: Insertable<Tables["chat_messages"]>): Statement {
  return statement(db.q.insertInto("chat_messages").values(row));
}

export function toChatMessage(row: Selectable<Tables["chat_messages"]>): ChatMessage {
  const { scope: _, role, content, ...fields } = row;
  return {
    ...fields,
    role: role as ChatMessage["role"],
    content: storedJson(content, `Message ${fields.id} of chat ${fields.chat_id}`),
  };
}
