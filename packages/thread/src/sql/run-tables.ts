import type { Generated } from "kysely";

/** Work on threads, what came of it, and who is told. */
export interface RunTables {
  runs: RunRow;
  events: EventRow;
  tool_calls: ToolCallRow;
  deliveries: DeliveryRow;
  idempotency_keys: IdempotencyKeyRow;
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
