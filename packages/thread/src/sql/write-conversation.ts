import { AppError, isAppError } from "@cognition/contract";
import type { Database } from "./database.ts";
import type { Tx } from "./statement.ts";
import { writeThread } from "./write-thread.ts";

/** The thread's row is the first lock, as in every write to a thread. */
export async function writeConversation<T>(db: Database, conversation_id: string, body: () => Tx<T>): Promise<T> {
  try {
    return await writeThread(db, { session_id: conversation_id }, body);
  } catch (error) {
    throw isAppError(error, "session_not_found", "thread_deleted") ? conversationNotFound(conversation_id) : error;
  }
}

export function conversationNotFound(conversation_id: string): AppError {
  return new AppError(
    "conversation_not_found",
    `There is no conversation ${conversation_id} of this user. Nothing was stored; leave the id out to begin a new one.`,
  );
}
