import type { Scope, Session, SessionConfig } from "@cognition/contract";

export interface NewSession {
  id?: string;
  /** A thread that has no session yet, or none: one is made. */
  thread_id?: string;
  title?: string | null;
  agent_name?: string;
  config?: SessionConfig;
  scopes?: Scope;
  metadata?: Record<string, string>;
  mode?: Session["mode"];
  workspace_path?: string | null;
  parent?: Session["parent"];
}

export interface SessionFilter {
  /** Every given key must be equal; a session may have more. An empty filter matches all. */
  filter_scopes?: Scope;
  /** Exact equality of all keys. */
  scope?: Scope;
  /** Every predicate must match; keys and values may hold any character. */
  metadata_filters?: Record<string, string>;
  status?: Session["status"];
}

export type SessionPatch = Partial<
  Pick<Session, "title" | "status" | "agent_name" | "mode" | "config" | "metadata" | "workspace_path">
>;

export interface SessionStore {
  /** Makes the session and its thread in one commit; on a thread that is there already, the rows of its conversation too. */
  createSession(session: NewSession): Promise<Session>;
  getSession(session_id: string, scope?: Scope): Promise<Session | null>;
  /**
   * Newest first, in an order that does not depend on clocks. `before` is the id of a session: only those made before it,
   * also once it is deleted, whatever else came or went.
   */
  listSessions(filter?: SessionFilter & { limit?: number; offset?: number; before?: string }): Promise<Session[]>;
  countSessions(filter?: SessionFilter): Promise<number>;
  /** Changes only what is given: config is merged key by key, metadata replaced. `null` if there is no such session. */
  updateSession(session_id: string, patch: SessionPatch, scope?: Scope): Promise<Session | null>;
  /** Adds `delta` in the database, so that concurrent calls add up. Never below zero. */
  updateMessageCount(session_id: string, delta: number): Promise<void>;
  /**
   * Removes the session, its messages, runs, events, journal, scratch artifacts and its thread: in one commit nobody finds any of
   * it any more; what takes longer to remove goes right after, and after a crash with `sweepExpired`. The thread stays deleted: a
   * writer that comes late is refused. Pieces that a fork shares live on. Deliveries that are done go too; one that is still owed
   * stays until its last attempt.
   */
  deleteSession(session_id: string, scope?: Scope): Promise<boolean>;
  /** Those of the ids that were sessions here, and are deleted; in any order. Not one that nobody ever had, or that is in use again. */
  findDeletedSessions(session_ids: readonly string[]): Promise<string[]>;
  /** Hints of sessions that other processes have deleted. It may come late, twice or never. Gives the way to stop. */
  watchDeletions(onDeleted: (session_id: string) => void): Promise<() => void>;
}
