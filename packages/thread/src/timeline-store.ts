import type { Message, Session } from "@cognition/contract";
import type { Lease } from "./run-store.ts";

/** A root checkpoint as a person can read it, without its whole state. */
export interface TimelineEntry {
  checkpoint_id: string;
  parent_id: string | null;
  run_id: string | null;
  step: number;
  source: "input" | "loop" | "update" | "fork";
  created_at: string;
  /** The nodes that come next. */
  next: string[];
  message_count: number;
  /** The last messages of the state, oldest first: from the model's last word on. */
  last: TimelineMessage[];
  /** Whether it waits for an answer. */
  waiting: boolean;
  snapshot_id: string | null;
  is_head: boolean;
}

export interface TimelineMessage {
  id: string;
  role: Message["role"];
  /** JSON of the content, and of the tool calls. */
  content: string;
  tool_calls: string;
  tool_call_id: string | null;
  failed: boolean;
}

export interface Rewind {
  session_id: string;
  /** Where to go; null for before the first checkpoint. */
  checkpoint_id: string | null;
  /** The head that the caller has seen: another one rejects with `version_conflict`. */
  expected_head: string | null;
  conversation: boolean;
  /** The files of the checkpoint; left out, they stay. What is not stored any more rejects with `snapshot_not_found`. */
  snapshot_id?: string;
  /** Where the caller has seen the files stand: elsewhere rejects with `version_conflict`. */
  expected_snapshot?: string;
  /** Where the files are to stand from now on, if what people have changed since the head is to stay. */
  files_stand_at?: string;
  artifacts?: boolean;
  memory?: boolean;
  /** Where these two go, if not to the same checkpoint: that of an input comes after what was written before it was given. */
  written_at?: string;
  /** The session's mode from now on; left out, it stays. */
  mode?: Session["mode"];
}

export interface Fork {
  session_id: string;
  /** Of the new session; one that is there already rejects with `already_exists`. */
  id?: string;
  /** The head if not said. */
  checkpoint_id?: string;
  title?: string | null;
  agent_name?: string;
  /** False: the new session begins without the files. */
  files: boolean;
  /** The files to begin with, if not those of the checkpoint; gone of what they lead to rejects with `snapshot_not_found`. */
  snapshot_id?: string;
  /** All that they lead to. */
  objects?: readonly string[];
  /** That of the other session if not said. */
  mode?: Session["mode"];
}

/**
 * Going back, and branching off. A fork's thread begins with one checkpoint; one of those that led to it becomes the fork's own
 * as soon as it is named here, with all that lie in between, as long as the session that it was forked from has them.
 */
export interface TimelineStore {
  /** The thread's root checkpoints, newest first; of those named only, if any are. */
  readTimeline(
    session_id: string,
    page?: { limit?: number; before?: string; checkpoint_ids?: readonly string[] },
  ): Promise<TimelineEntry[]>;
  /**
   * One commit: a new head that is a copy of the checkpoint without what was pending there, the messages along its
   * ancestry, where the files stand, artifacts and memory as they were, and the `head_moved` event. What was undone stays
   * in the tree, under `previous_head`: with what was written to artifacts and memory since the last checkpoint, if they go
   * back too. Rejects with `session_busy` or `waiting_for_approval` while a run is open.
   */
  rewindSession(rewind: Rewind): Promise<{ head: string; previous_head: string | null }>;
  /**
   * One commit: a session on a thread that begins at the checkpoint and shares everything stored. Its message rows are
   * made when somebody needs them.
   */
  forkSession(fork: Fork): Promise<Session>;
  /** The conversation as the checkpoint holds it, oldest first. */
  messagesAt(session_id: string, checkpoint_id: string): Promise<Message[]>;
  /** For a run that answers an earlier message: its thread goes on from that checkpoint. Files stay as they are. */
  branchThread(lease: Lease, checkpoint_id: string): Promise<string>;
}
