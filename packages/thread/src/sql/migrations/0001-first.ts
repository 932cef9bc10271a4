import type { Dialect } from "../dialect.ts";
import type { Migration } from "./migration.ts";

/** Sessions, messages, checkpoints, runs, events, the tool journal, deliveries, memory and artifacts. */
export const first: Migration = {
  version: 1,
  name: "first",
  oldestProgram: 1,
  up: (d) => [
    ...requirement(d),
    ...threads(d),
    ...sessions(d),
    ...runs(d),
    ...checkpoints(d),
    ...memory(d),
    ...artifacts(d),
  ],
};

/** Lets a batch of statements that is already on its way stop itself; SQLite's batches are checked as they run. */
function requirement({ name }: Dialect): string[] {
  if (name === "sqlite") return [];
  return [
    `create or replace function cognition_require(met boolean, what text) returns boolean language plpgsql as $$
begin
  if met is not true then raise exception '%', what using errcode = 'CG001'; end if;
  return true;
end $$`,
  ];
}

/** Narrow, because every write to a thread updates its row: it is the lock, the fence and the counters. */
function threads({ serial, bigint, text }: Dialect): string[] {
  return [
    `create table threads (
  pk ${serial},
  thread_id ${text} not null unique,
  scope ${text} not null,
  lineage ${bigint},
  generation ${bigint} not null default 0,
  head ${text},
  checkpoint_seq ${bigint} not null default 0,
  event_seq ${bigint} not null default 0,
  epoch ${bigint} not null default 0,
  lease_owner ${text},
  lease_until ${bigint},
  bytes ${bigint} not null default 0,
  expires_at ${bigint},
  created_at ${text} not null,
  deleted_at ${text}
)`,
    "create index threads_by_lineage on threads (lineage)",
    "create index threads_by_expiry on threads (expires_at) where expires_at is not null",
  ];
}

function sessions({ serial, bigint, text }: Dialect): string[] {
  return [
    `create table sessions (
  pk ${serial},
  id ${text} not null unique,
  thread_id ${text} not null unique,
  scope ${text} not null,
  title ${text},
  status ${text} not null,
  agent_name ${text} not null,
  mode ${text} not null,
  config ${text} not null,
  metadata ${text} not null,
  workspace_path ${text},
  message_count ${bigint} not null default 0,
  parent_session_id ${text},
  parent_checkpoint_id ${text},
  created_at ${text} not null,
  updated_at ${text} not null
)`,
    "create index sessions_by_scope on sessions (scope, pk)",
    `create table messages (
  pk ${serial},
  session_id ${text} not null references sessions (id) on delete cascade,
  id ${text} not null,
  scope ${text} not null,
  position ${bigint},
  role ${text} not null,
  content ${text} not null,
  tool_calls ${text} not null,
  tool_call_id ${text},
  token_count ${bigint},
  model_used ${text},
  parent_id ${text},
  metadata ${text} not null,
  run_id ${text},
  checkpoint_id ${text},
  left_state ${text},
  created_at ${text} not null,
  unique (session_id, id)
)`,
    "create index messages_by_position on messages (session_id, position)",
    "create index messages_by_id on messages (id)",
  ];
}

function runs({ serial, bigint, text, clustered }: Dialect): string[] {
  return [
    `create table runs (
  pk ${serial},
  id ${text} not null unique,
  session_id ${text} not null references sessions (id) on delete cascade,
  thread ${bigint} not null,
  scope ${text} not null,
  status ${text} not null,
  attempt ${bigint} not null default 0,
  stalled_attempts ${bigint} not null default 0,
  epoch ${bigint} not null default 0,
  resumes ${text},
  agent_name ${text} not null,
  agent_revision ${text},
  model ${text},
  input ${text} not null,
  usage ${text},
  error ${text},
  trace_id ${text},
  checkpoint_id ${text},
  abort_requested_at ${text},
  created_at ${text} not null,
  started_at ${text},
  finished_at ${text},
  compacted_at ${text}
)`,
    "create index runs_by_session on runs (session_id, pk)",
    "create index runs_in_line on runs (thread, pk) where status in ('queued', 'running', 'waiting_for_approval')",
    "create index runs_to_compact on runs (finished_at) where compacted_at is null",
    "create index runs_open on runs (status, pk) where status in ('queued', 'running', 'waiting_for_approval')",
    `create table events (
  thread ${bigint} not null,
  seq ${bigint} not null,
  run ${bigint},
  ordinal ${bigint},
  event ${text} not null,
  data ${text} not null,
  folded ${bigint} not null default 0,
  created_at ${text} not null,
  primary key (thread, seq)
)${clustered}`,
    "create unique index events_once on events (run, ordinal)",
    "create unique index events_one_end on events (run) where event = 'done'",
    `create table tool_calls (
  pk ${serial},
  thread ${bigint} not null,
  checkpoint_ns ${text} not null,
  tool_call_id ${text} not null,
  run_id ${text} not null,
  scope ${text} not null,
  name ${text} not null,
  args ${text} not null,
  on_crash ${text} not null,
  status ${text} not null,
  attempt ${bigint} not null,
  epoch ${bigint} not null,
  idempotency_key ${text} not null,
  result ${text},
  created_at ${text} not null,
  finished_at ${text},
  unique (thread, checkpoint_ns, tool_call_id)
)`,
    "create index tool_calls_by_run on tool_calls (run_id)",
    `create table deliveries (
  pk ${serial},
  id ${text} not null unique,
  session_id ${text} not null,
  run_id ${text} not null,
  scope ${text} not null,
  url ${text} not null,
  payload ${text} not null,
  status ${text} not null,
  attempts ${text} not null,
  next_attempt_at ${bigint},
  claimed_until ${bigint},
  created_at ${text} not null,
  delivered_at ${text}
)`,
    "create index deliveries_due on deliveries (next_attempt_at) where status = 'pending'",
    "create index deliveries_by_scope on deliveries (scope, pk)",
    `create table idempotency_keys (
  scope ${text} not null,
  key ${text} not null,
  body_hash ${text} not null,
  response ${text},
  created_at ${text} not null,
  expires_at ${bigint} not null,
  primary key (scope, key)
)${clustered}`,
    "create index idempotency_keys_by_expiry on idempotency_keys (expires_at)",
  ];
}

/** No foreign keys: LangGraph gives no order between a checkpoint and its writes. */
function checkpoints({ bigint, bytes, text, clustered }: Dialect): string[] {
  return [
    `create table checkpoints (
  thread ${bigint} not null,
  seq ${bigint} not null,
  ns ${text} not null,
  checkpoint_id ${text} not null,
  parent_id ${text},
  body ${bytes} not null,
  metadata ${text} not null,
  primary key (thread, seq)
)${clustered}`,
    "create unique index checkpoints_by_id on checkpoints (thread, ns, checkpoint_id)",
    `create table checkpoint_writes (
  thread ${bigint} not null,
  ns ${text} not null,
  checkpoint_id ${text} not null,
  task_id ${text} not null,
  idx ${bigint} not null,
  channel ${text} not null,
  value ${bytes} not null,
  primary key (thread, ns, checkpoint_id, task_id, idx)
)${clustered}`,
    `create table pieces (
  lineage ${bigint} not null,
  id ${bigint} not null,
  value ${bytes} not null,
  primary key (lineage, id)
)${clustered}`,
  ];
}

function memory({ bigint, text, clustered }: Dialect): string[] {
  return [
    `create table store_items (
  scope ${text} not null,
  namespace ${text} not null,
  key ${text} not null,
  value ${text} not null,
  ttl_ms ${bigint},
  expires_at ${bigint},
  created_at ${text} not null,
  updated_at ${text} not null,
  primary key (scope, namespace, key)
)${clustered}`,
    "create index store_items_by_expiry on store_items (expires_at) where expires_at is not null",
  ];
}

function artifacts({ serial, bigint, bytes, text, clustered }: Dialect): string[] {
  return [
    `create table artifacts (
  pk ${serial},
  id ${text} not null unique,
  scope ${text} not null,
  session_id ${text},
  run_id ${text},
  name ${text} not null,
  artifact_type ${text} not null,
  path ${text},
  visibility ${text} not null,
  version ${bigint} not null,
  created_at ${text} not null,
  updated_at ${text} not null
)`,
    "create index artifacts_by_scope on artifacts (scope, pk)",
    "create index artifacts_by_session on artifacts (session_id, pk)",
    `create table artifact_versions (
  artifact_id ${text} not null references artifacts (id) on delete cascade,
  version ${bigint} not null,
  content ${bytes} not null,
  content_type ${text} not null,
  encoding ${text} not null,
  size ${bigint} not null,
  hash ${text} not null,
  reason ${text},
  run_id ${text},
  checkpoint_id ${text},
  created_at ${text} not null,
  primary key (artifact_id, version)
)${clustered}`,
  ];
}
