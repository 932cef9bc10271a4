import type { Message, Scope } from "@cognition/contract";
import type { SessionFilter } from "./session-store.ts";

export type NewMessage = Pick<Message, "session_id" | "role" | "content"> & Partial<Message>;

export interface MessageStore {
  /** Appends and counts in one commit. The same id again in that session returns the first and counts once. */
  createMessage(message: NewMessage): Promise<Message>;
  getMessage(message_id: string, options?: { session_id?: string; scope?: Scope }): Promise<Message | null>;
  /** A page, newest first unless `order` is "asc", and how many there are in all. */
  getMessagesBySession(
    session_id: string,
    page?: {
      limit?: number;
      offset?: number;
      order?: "asc" | "desc";
      role?: Message["role"];
      scope?: Scope;
      /** Only what comes after this message, in the order asked for. `message_not_found` where it is not in the list any more. */
      past?: string;
    },
  ): Promise<{ messages: Message[]; total: number }>;
  /**
   * What users and assistants said in words, in all sessions that match, oldest session first: a page, and how many there
   * are. What a tool said, and an answer that is only a call of one, is not among it; nor is a fork's, which begins with
   * what its parent has already.
   */
  listSpokenMessages(
    filter: SessionFilter,
    page?: { limit?: number; offset?: number },
  ): Promise<{ messages: Message[]; total: number }>;
  /** All, oldest first. */
  listMessagesForSession(session_id: string): Promise<Message[]>;
  deleteMessagesForSession(session_id: string): Promise<number>;
  /**
   * Makes the rows equal what the head's ancestry holds, from nothing if need be: missing ones are added, altered ones
   * set right, foreign ones removed; ids, times and usage that are known stay.
   */
  rebuildMessages(session_id: string): Promise<RebuildReport>;
}

export interface RebuildReport {
  checked: number;
  repaired: number;
  added: number;
  removed: number;
}
