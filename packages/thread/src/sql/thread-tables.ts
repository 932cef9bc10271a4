import type { Generated } from "kysely";

/** Conversations and where their graphs stand. */
export interface ThreadTables {
  threads: ThreadRow;
  sessions: SessionRow;
  messages: MessageRow;
  checkpoints: CheckpointRow;
  checkpoint_writes: CheckpointWriteRow;
  pieces: PieceRow;
  store_items: StoreItemRow;
  memory_changes: MemoryChangeRow;
}

export interface ThreadRow {
  pk: Generated<number>;
  thread_id: string;
  scope: string;
  /** `pk` of the thread this one was forked from in the beginning; null for that thread itself. */
  lineage: number | null;
  /** Raised when pieces of the lineage were swept: what a process remembers of them is void. */
  generation: Generated<number>;
  /** The newest root checkpoint. */
  head: string | null;
  checkpoint_seq: Generated<number>;
  event_seq: Generated<number>;
  epoch: Generated<number>;
  lease_owner: string | null;
  lease_until: number | null;
  bytes: Generated<number>;
  expires_at: number | null;
  created_at: string;
  deleted_at: string | null;
  /** Of a thread that was deleted with its session: the id of that. */
  deleted_session: string | null;
}

export interface SessionRow {
  pk: Generated<number>;
  id: string;
  thread_id: string;
  scope: string;
  title: string | null;
  status: string;
  agent_name: string;
  mode: string;
  config: string;
  metadata: string;
  workspace_path: string | null;
  message_count: Generated<number>;
  parent_session_id: string | null;
  parent_checkpoint_id: string | null;
  created_at: string;
  updated_at: string;
  /** Whose conversation it is, once a task was started on it. */
  user_id: string | null;
  /** 1 for a fork whose message rows nobody has needed yet. */
  inherits: Generated<number>;
}

interface MessageRow {
  pk: Generated<number>;
  session_id: string;
  id: string;
  scope: string;
  /** Place in the conversation as the head sees it; null for messages of other branches. */
  position: number | null;
  role: string;
  content: string;
  tool_calls: string;
  tool_call_id: string | null;
  token_count: number | null;
  model_used: string | null;
  parent_id: string | null;
  metadata: string;
  run_id: string | null;
  checkpoint_id: string | null;
  /** The checkpoint whose state no longer held it (summarisation); it stays in the conversation. */
  left_state: string | null;
  created_at: string;
}

interface CheckpointRow {
  thread: number;
  /** The order in which checkpoints were committed: ids carry the writing node's clock, which may lag. */
  seq: number;
  ns: string;
  checkpoint_id: string;
  parent_id: string | null;
  body: Uint8Array;
  metadata: string;
  /** The files of the workspace as they were. */
  snapshot: string | null;
}

interface CheckpointWriteRow {
  thread: number;
  ns: string;
  checkpoint_id: string;
  task_id: string;
  idx: number;
  channel: string;
  value: Uint8Array;
  /** Where the task stands in its step, for the order of its writes; empty where LangGraph does not tell. */
  task_path: Generated<string>;
}

interface PieceRow {
  lineage: number;
  id: number;
  value: Uint8Array;
}

interface StoreItemRow {
  scope: string;
  namespace: string;
  key: string;
  value: string;
  ttl_ms: number | null;
  expires_at: number | null;
  created_at: string;
  updated_at: string;
}

interface MemoryChangeRow {
  pk: Generated<number>;
  thread: number;
  /** The head when it was written; null before the first checkpoint. */
  checkpoint_id: string | null;
  scope: string;
  namespace: string;
  key: string;
  /** Null for an item that was not there. */
  before: string | null;
  after: string | null;
  /** How long they were to be kept, and until when. */
  before_ttl_ms: number | null;
  before_expires_at: number | null;
  after_ttl_ms: number | null;
  after_expires_at: number | null;
  created_at: string;
}
