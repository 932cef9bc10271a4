import type { Generated } from "kysely";
import type { RegistryTables } from "./registry-tables.ts";

/** The columns as the drivers give them: JSON and times are text, flags are 0 and 1. */
export interface Tables extends RegistryTables {
  threads: ThreadRow;
  sessions: SessionRow;
  messages: MessageRow;
  runs: RunRow;
  events: EventRow;
  tool_calls: ToolCallRow;
  deliveries: DeliveryRow;
  idempotency_keys: IdempotencyKeyRow;
  checkpoints: CheckpointRow;
  checkpoint_writes: CheckpointWriteRow;
  pieces: PieceRow;
  store_items: StoreItemRow;
  artifacts: ArtifactRow;
  artifact_versions: ArtifactVersionRow;
  user_profiles: UserProfileRow;
  task_workspaces: TaskWorkspaceRow;
  chats: ChatRow;
  chat_messages: ChatMessageRow;
  snapshot_scopes: SnapshotScopeRow;
  snapshot_packs: SnapshotPackRow;
  snapshot_objects: SnapshotObjectRow;
  workspaces: WorkspaceRow;
  memory_changes: MemoryChangeRow;
  api_keys: ApiKeyRow;
  rate_limits: RateLimitRow;
  circuit_breakers: CircuitBreakerRow;
  completed_tasks: CompletedTaskRow;
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

interface RunRow {
  pk: Generated<number>;
  id: string;
  session_id: string;
  thread: number;
  scope: string;
  status: string;
  attempt: Generated<number>;
  /** Attempts since the last new checkpoint: a run that keeps killing its node is given up. */
  stalled_attempts: Generated<number>;
  epoch: Generated<number>;
  resumes: string | null;
  agent_name: string;
  agent_revision: string | null;
  model: string | null;
  input: string;
  usage: string | null;
  error: string | null;
  trace_id: string | null;
  checkpoint_id: string | null;
  abort_requested_at: string | null;
  created_at: string;
  started_at: string | null;
  finished_at: string | null;
  /** When its token events were folded. */
  compacted_at: string | null;
  /** Who is to be told of its end. */
  callback_url: string | null;
}

interface EventRow {
  thread: number;
  seq: number;
  run: number | null;
  /** The writer's own count within the run: a commit whose answer was lost can be sent again. */
  ordinal: number | null;
  event: string;
  data: string;
  /** How many earlier events this one stands for after compaction. */
  folded: Generated<number>;
  created_at: string;
}

interface ToolCallRow {
  pk: Generated<number>;
  thread: number;
  checkpoint_ns: string;
  tool_call_id: string;
  run_id: string;
  scope: string;
  name: string;
  args: string;
  on_crash: string;
  status: string;
  attempt: number;
  /** The lease under which the last attempt was begun: an open one of an earlier lease was cut off by a crash. */
  epoch: number;
  idempotency_key: string;
  result: string | null;
  created_at: string;
  finished_at: string | null;
}

interface DeliveryRow {
  pk: Generated<number>;
  id: string;
  session_id: string;
  run_id: string;
  scope: string;
  url: string;
  payload: string;
  status: string;
  attempts: string;
  next_attempt_at: number | null;
  claimed_until: number | null;
  created_at: string;
  delivered_at: string | null;
}

interface IdempotencyKeyRow {
  scope: string;
  key: string;
  body_hash: string;
  response: string | null;
  created_at: string;
  expires_at: number;
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

export interface ArtifactRow {
  pk: Generated<number>;
  id: string;
  scope: string;
  session_id: string | null;
  run_id: string | null;
  name: string;
  artifact_type: string;
  path: string | null;
  visibility: string;
  version: number;
  created_at: string;
  updated_at: string;
  /** 1 when it was made after the point its session was put back to. */
  undone: Generated<number>;
}

export interface ArtifactVersionRow {
  artifact_id: string;
  version: number;
  content: Uint8Array;
  content_type: string;
  encoding: string;
  size: number;
  hash: string;
  reason: string | null;
  run_id: string | null;
  checkpoint_id: string | null;
  created_at: string;
}

interface UserProfileRow {
  scope: string;
  user_id: string;
  profile_data: string;
  created_at: string;
  updated_at: string;
}

interface TaskWorkspaceRow {
  scope: string;
  task_id: string;
  user_id: string;
  conversation_id: string;
  query: string;
  workspace_data: string;
  created_at: string;
  updated_at: string;
}

interface ChatRow {
  pk: Generated<number>;
  scope: string;
  user_id: string;
  chat_id: string;
  session_id: string;
  working_directory: string;
  claude_session_id: string | null;
  mode: string;
  total_cost: Generated<number>;
  message_count: Generated<number>;
  /** 0 once it was deleted, replaced or expired; it never becomes 1 again. */
  is_active: Generated<number>;
  created_at: string;
  last_used: string;
}

interface ChatMessageRow {
  id: Generated<number>;
  scope: string;
  user_id: string;
  chat_id: string;
  role: string;
  content: string;
  cost: number | null;
  duration_ms: number | null;
  session_id: string | null;
  created_at: string;
}

export interface ApiKeyRow {
  pk: Generated<number>;
  id: string;
  prefix: string;
  /** SHA-256 of the whole key. */
  hash: string;
  name: string;
  /** Null for a key that is bound to none. */
  scope: string | null;
  admin: number;
  created_at: string;
  last_used_at: string | null;
  expires_at: string | null;
  revoked_at: string | null;
}

interface RateLimitRow {
  scope: string;
  /** When the bucket will be full again, in microseconds by the database's clock. */
  full_at: number;
}

interface CircuitBreakerRow {
  scope: string;
  name: string;
  failures: number;
  /** By the database's clock. */
  open_until: number;
}

interface CompletedTaskRow {
  scope: string;
  task_id: string;
  user_id: string;
  conversation_id: string;
  completed_at: string;
}

interface SnapshotScopeRow {
  scope: string;
  /** What its packs take. Its row is the lock between those who store and the one who sweeps. */
  bytes: Generated<number>;
}

interface SnapshotPackRow {
  pk: Generated<number>;
  scope: string;
  encoding: string;
  /** Of what it holds, before compression. */
  size: number;
  content: Uint8Array;
  created_ms: number;
  /** Whose snapshot it was stored for: for whom it counts. */
  thread: number | null;
}

interface SnapshotObjectRow {
  scope: string;
  hash: string;
  kind: string;
  /** The tree that this one is kept as a change of. */
  base: string | null;
  pack: number;
  start: number;
  size: number;
}

interface WorkspaceRow {
  thread: number;
  scope: string;
  snapshot_id: string;
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
