import { AppError } from "@cognition/contract";
import { type Dialect, prepared } from "./dialect.ts";
import type { QueryResult, Statement } from "./statement.ts";

/** What a conversation's messages take, without reading them: a thousandth of what it is to have them all in memory. */
export function selectSize(dialect: Dialect, conversation_id: string): Statement {
  const sql = `select coalesce(sum(octet_length(content) + octet_length(tool_calls) + octet_length(metadata)), 0) as bytes
    from messages where session_id = ? and position is not null`;
  return prepared(dialect, sql, [conversation_id]);
}

export function requireSize(conversation_id: string, measured: QueryResult | undefined, max_bytes: number): void {
  const bytes = Number(measured?.rows[0]?.["bytes"]);
  if (bytes <= max_bytes) return;
  const message = `Conversation ${conversation_id} has ${bytes} bytes of messages; at most ${max_bytes} are given at once. Read them page by page, as those of the session of that id.`;
  throw new AppError("limit_exceeded", message, { details: { limit: "answer", max_bytes } });
}
