import type { CompletedTask, Message, Scope } from "@cognition/contract";
import type { NewMessage } from "../message-store.ts";
import type { ProfileData, StoredProfile } from "./profile-data.ts";
import type { WorkspaceData } from "./workspace-data.ts";

export interface NewTask {
  task_id?: string;
  query: string;
  user_id: string;
  /** A session of the scope that is this user's or nobody's yet; without it a new one is made. */
  conversation_id?: string;
  scope?: Scope;
  /** As in `loadTask`; nothing is made then. */
  max_bytes?: number;
}

export interface TaskRef {
  task_id: string;
  user_id: string;
  conversation_id: string;
  scope?: Scope;
}

export interface StoredTask extends Required<TaskRef> {
  query: string;
  profile: StoredProfile;
  workspace: WorkspaceData;
  /** The whole conversation, oldest first. */
  messages: Message[];
  /** Of the conversation. */
  last_updated: string;
}

/** A function may be asked twice, must have no effects, and gives the object it got when there is nothing to store. */
export type TaskChange =
  | { message: Omit<NewMessage, "session_id"> }
  | { profile: (stored: ProfileData) => ProfileData }
  | { workspace: (stored: WorkspaceData) => WorkspaceData };

export interface TaskChanged {
  messages: Message[];
  profile?: StoredProfile;
  workspace?: WorkspaceData;
}

export interface TaskSummary extends Required<TaskRef> {
  query: string;
  created_at: string;
  updated_at: string;
}

/** A task without the conversation it belongs to. */
export interface OpenTask extends Required<TaskRef> {
  query: string;
  workspace: WorkspaceData;
}

/** Every user is one of a scope: two scopes' user "default" are two people. */
export interface ProfileStore {
  getProfile(user_id: string, scope?: Scope): Promise<StoredProfile | null>;
  /** Applies the change to what is stored at that moment, so that two at once both count. Makes an empty one if absent. */
  changeProfile(user_id: string, change: (stored: ProfileData) => ProfileData, scope?: Scope): Promise<StoredProfile>;
}

export interface TaskStore {
  /**
   * Profile (if absent), conversation and workspace in one commit. Rejects with `conversation_not_found` for a session
   * that does not exist, of another scope or another user's, and has then made nothing.
   */
  startTask(task: NewTask): Promise<StoredTask>;
  /**
   * Rejects with `profile_not_found`, then with `task_not_found`; without `user_id` whoever of the scope it belongs to. A
   * conversation that takes more than `max_bytes` is not read: `limit_exceeded`.
   */
  loadTask(task: { task_id: string; user_id?: string; scope?: Scope; max_bytes?: number }): Promise<StoredTask>;
  /**
   * All of the changes, in their order, in one commit, or none. Messages are appended, one row each; what others
   * appended stays. Rejects with `task_completed` once the workspace is gone, which it never brings back.
   */
  changeTask(task: TaskRef, changes: readonly TaskChange[]): Promise<TaskChanged>;
  /**
   * As `changeTask`, and deletes the workspace in that commit. Of a task that is complete nothing is changed, and it is
   * told when it was completed.
   */
  completeTask(task: TaskRef, changes: readonly TaskChange[]): Promise<TaskChanged & { done: CompletedTask }>;
  /** When a task was completed, for as long as its conversation is there; null for one that is open or unknown. */
  findCompletedTask(task: { task_id: string; user_id?: string; scope?: Scope }): Promise<CompletedTask | null>;
  /** The newest task of a conversation that is not complete, if there is one; the same cost at any length of it. */
  findTask(conversation_id: string, scope?: Scope): Promise<OpenTask | null>;
  /** Tasks that are not complete, newest first. */
  listTasks(filter?: { user_id?: string; scope?: Scope; limit?: number; offset?: number }): Promise<TaskSummary[]>;
}
