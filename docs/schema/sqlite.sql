CREATE TABLE agent_revisions (
  revision text not null,
  scope text not null,
  agent text not null,
  created_at text not null,
  primary key (revision, scope)
) without rowid;

CREATE TABLE agents (
  scope text not null,
  name text not null,
  definition text not null,
  hash text not null,
  created_at text not null,
  updated_at text not null,
  primary key (scope, name)
) without rowid;

CREATE TABLE api_keys (
  pk integer primary key autoincrement,
  id text not null unique,
  prefix text not null unique,
  hash text not null,
  name text not null,
  scope text,
  admin integer not null default 0,
  created_at text not null,
  last_used_at text,
  expires_at text,
  revoked_at text
);

CREATE TABLE artifact_versions (
  artifact_id text not null references artifacts (id) on delete cascade,
  version integer not null,
  content blob not null,
  content_type text not null,
  encoding text not null,
  size integer not null,
  hash text not null,
  reason text,
  run_id text,
  checkpoint_id text,
  created_at text not null,
  primary key (artifact_id, version)
) without rowid;

CREATE INDEX artifact_versions_without_content on artifact_versions
  (artifact_id, version, content_type, size, hash, reason, run_id, checkpoint_id, created_at);

CREATE TABLE artifacts (
  pk integer primary key autoincrement,
  id text not null unique,
  scope text not null,
  run_id text,
  name text not null,
  artifact_type text not null,
  path text,
  visibility text not null,
  version integer not null,
  created_at text not null,
  updated_at text not null
, undone integer not null default 0, session_id text);

CREATE INDEX artifacts_by_scope on artifacts (scope, pk);

CREATE INDEX artifacts_by_session on artifacts (session_id, pk);

CREATE TABLE budget_reservations (
  id text not null,
  budget_id text not null,
  stretch text not null,
  scope text not null,
  cost double precision not null,
  tokens integer not null,
  expires_at integer not null, run_id text,
  primary key (id, budget_id),
  foreign key (budget_id, stretch) references budget_usage (budget_id, stretch) on delete cascade
) without rowid;

CREATE INDEX budget_reservations_by_expiry on budget_reservations (budget_id, stretch, expires_at);

CREATE INDEX budget_reservations_by_run on budget_reservations (run_id);

CREATE TABLE budget_usage (
  budget_id text not null references budgets (id) on delete cascade,
  stretch text not null,
  scope text not null,
  used_cost double precision not null default 0,
  used_tokens integer not null default 0,
  used_steps integer not null default 0,
  used_tool_calls integer not null default 0,
  used_seconds double precision not null default 0,
  reserved_cost double precision not null default 0,
  reserved_tokens integer not null default 0,
  unpriced_tokens integer not null default 0,
  primary key (budget_id, stretch)
) without rowid;

CREATE TABLE budgets (
  id text primary key,
  scope text not null,
  agent_name text not null,
  session_id text not null,
  period text not null,
  max_cost double precision,
  max_tokens integer,
  max_steps integer,
  max_tool_calls integer,
  max_seconds double precision,
  created_at text not null,
  updated_at text not null,
  unique (scope, agent_name, session_id, period)
);

CREATE TABLE chat_messages (
  id integer primary key autoincrement,
  scope text not null,
  user_id text not null,
  chat_id text not null,
  role text not null check (role in ('user', 'assistant')),
  content text not null,
  cost double precision,
  duration_ms integer,
  session_id text,
  created_at text not null
);

CREATE INDEX chat_messages_in_order on chat_messages (scope, user_id, chat_id, created_at, id);

CREATE TABLE chats (
  pk integer primary key autoincrement,
  scope text not null,
  user_id text not null,
  chat_id text not null,
  session_id text not null,
  working_directory text not null,
  claude_session_id text,
  mode text not null check (mode in ('plan', 'auto')),
  total_cost double precision not null default 0,
  message_count integer not null default 0,
  is_active integer not null default 1,
  created_at text not null,
  last_used text not null,
  unique (scope, user_id, chat_id, session_id)
);

CREATE UNIQUE INDEX chats_active on chats (scope, user_id, chat_id) where is_active = 1;

CREATE INDEX chats_by_use on chats (scope, last_used) where is_active = 1;

CREATE TABLE checkpoint_writes (
  thread integer not null,
  ns text not null,
  checkpoint_id text not null,
  task_id text not null,
  idx integer not null,
  channel text not null,
  value blob not null, task_path text not null default '',
  primary key (thread, ns, checkpoint_id, task_id, idx)
) without rowid;

CREATE TABLE checkpoints (
  thread integer not null,
  seq integer not null,
  ns text not null,
  checkpoint_id text not null,
  parent_id text,
  body blob not null,
  metadata text not null, snapshot text,
  primary key (thread, seq)
) without rowid;

CREATE UNIQUE INDEX checkpoints_by_id on checkpoints (thread, ns, checkpoint_id);

CREATE TABLE circuit_breakers (
  scope text not null,
  name text not null,
  failures integer not null,
  open_until integer not null,
  primary key (scope, name)
) without rowid;

CREATE TABLE completed_tasks (
  scope text not null,
  task_id text not null,
  user_id text not null,
  conversation_id text not null references sessions (id) on delete cascade,
  completed_at text not null,
  primary key (scope, task_id)
) without rowid;

CREATE INDEX completed_tasks_by_conversation on completed_tasks (conversation_id);

CREATE TABLE definition_changes (
  kind text primary key,
  version integer not null
);

CREATE TABLE deliveries (
  pk integer primary key autoincrement,
  id text not null unique,
  session_id text not null,
  run_id text not null,
  scope text not null,
  url text not null,
  payload text not null,
  status text not null,
  attempts text not null,
  next_attempt_at integer,
  claimed_until integer,
  created_at text not null,
  delivered_at text
);

CREATE INDEX deliveries_by_scope on deliveries (scope, pk);

CREATE INDEX deliveries_by_session on deliveries (session_id, pk);

CREATE INDEX deliveries_done on deliveries (created_at) where status <> 'pending';

CREATE INDEX deliveries_due on deliveries (next_attempt_at) where status = 'pending';

CREATE TABLE events (
  thread integer not null,
  seq integer not null,
  run integer,
  ordinal integer,
  event text not null,
  data text not null,
  folded integer not null default 0,
  created_at text not null,
  primary key (thread, seq)
) without rowid;

CREATE UNIQUE INDEX events_once on events (run, ordinal);

CREATE UNIQUE INDEX events_one_end on events (run) where event = 'done';

CREATE TABLE idempotency_keys (
  scope text not null,
  key text not null,
  body_hash text not null,
  response text,
  created_at text not null,
  expires_at integer not null,
  primary key (scope, key)
) without rowid;

CREATE INDEX idempotency_keys_by_expiry on idempotency_keys (expires_at);

CREATE TABLE memory_changes (
  pk integer primary key autoincrement,
  thread integer not null,
  checkpoint_id text,
  scope text not null,
  namespace text not null,
  key text not null,
  before text,
  after text,
  created_at text not null
, before_ttl_ms integer, before_expires_at integer, after_ttl_ms integer, after_expires_at integer);

CREATE INDEX memory_changes_by_thread on memory_changes (thread, pk);

CREATE TABLE messages (
  pk integer primary key autoincrement,
  session_id text not null references sessions (id) on delete cascade,
  id text not null,
  scope text not null,
  position integer,
  role text not null,
  content text not null,
  tool_calls text not null,
  tool_call_id text,
  token_count integer,
  model_used text,
  parent_id text,
  metadata text not null,
  run_id text,
  checkpoint_id text,
  left_state text,
  created_at text not null,
  unique (session_id, id)
);

CREATE INDEX messages_by_id on messages (id);

CREATE INDEX messages_by_position on messages (session_id, position);

CREATE TABLE pieces (
  lineage integer not null,
  id integer not null,
  value blob not null,
  primary key (lineage, id)
) without rowid;

CREATE TABLE providers (
  scope text not null,
  name text not null,
  definition text not null,
  hash text not null,
  created_at text not null,
  updated_at text not null,
  primary key (scope, name)
) without rowid;

CREATE TABLE rate_limits (
  scope text not null primary key,
  full_at integer not null
) without rowid;

CREATE TABLE run_usage (
  pk integer primary key autoincrement,
  scope text not null,
  session_id text not null,
  run_id text not null,
  agent_name text not null,
  model text not null,
  day text not null,
  input_tokens integer not null,
  output_tokens integer not null,
  estimated_cost double precision,
  unique (run_id, model)
);

CREATE INDEX run_usage_by_day on run_usage (scope, day);

CREATE INDEX run_usage_by_session on run_usage (session_id);

CREATE TABLE runs (
  pk integer primary key autoincrement,
  id text not null unique,
  session_id text not null references sessions (id) on delete cascade,
  thread integer not null,
  scope text not null,
  status text not null,
  attempt integer not null default 0,
  stalled_attempts integer not null default 0,
  epoch integer not null default 0,
  resumes text,
  agent_name text not null,
  agent_revision text,
  model text,
  input text not null,
  usage text,
  error text,
  trace_id text,
  checkpoint_id text,
  abort_requested_at text,
  created_at text not null,
  started_at text,
  finished_at text,
  compacted_at text
, callback_url text);

CREATE INDEX runs_by_session on runs (session_id, pk);

CREATE INDEX runs_claimable on runs (pk) where status in ('queued', 'running');

CREATE INDEX runs_in_line on runs (session_id, pk) where status in ('queued', 'running', 'waiting_for_approval');

CREATE INDEX runs_queued on runs (scope) where status = 'queued';

CREATE INDEX runs_to_compact on runs (finished_at) where compacted_at is null;

CREATE TABLE schema_migrations (
  version integer primary key,
  name text not null,
  hash text not null,
  oldest_program integer not null,
  applied_at text not null
);

CREATE TABLE sessions (
  pk integer primary key autoincrement,
  id text not null unique,
  thread_id text not null unique,
  scope text not null,
  title text,
  status text not null,
  agent_name text not null,
  mode text not null,
  config text not null,
  metadata text not null,
  workspace_path text,
  message_count integer not null default 0,
  parent_session_id text,
  parent_checkpoint_id text,
  created_at text not null,
  updated_at text not null
, user_id text, inherits integer not null default 0);

CREATE INDEX sessions_by_parent on sessions (parent_session_id) where parent_session_id is not null;

CREATE INDEX sessions_by_scope on sessions (scope, pk);

CREATE TABLE snapshot_objects (
  scope text not null,
  hash text not null,
  kind text not null,
  base text,
  pack integer not null,
  start integer not null,
  size integer not null,
  primary key (scope, hash)
) without rowid;

CREATE TABLE snapshot_packs (
  pk integer primary key autoincrement,
  scope text not null,
  encoding text not null,
  size integer not null,
  content blob not null,
  created_ms integer not null
, thread integer);

CREATE INDEX snapshot_packs_by_age on snapshot_packs (scope, created_ms);

CREATE INDEX snapshot_packs_by_scope on snapshot_packs (scope, pk);

CREATE TABLE snapshot_scopes (
  scope text not null primary key,
  bytes integer not null default 0
) without rowid;

CREATE TABLE store_items (
  scope text not null,
  namespace text not null,
  key text not null,
  value text not null,
  ttl_ms integer,
  expires_at integer,
  created_at text not null,
  updated_at text not null,
  primary key (scope, namespace, key)
) without rowid;

CREATE INDEX store_items_by_expiry on store_items (scope, expires_at) where expires_at is not null;

CREATE TABLE task_workspaces (
  scope text not null,
  task_id text not null,
  user_id text not null,
  conversation_id text not null references sessions (id) on delete cascade,
  query text not null,
  workspace_data text not null,
  created_at text not null,
  updated_at text not null,
  primary key (scope, task_id),
  foreign key (scope, user_id) references user_profiles (scope, user_id) on delete cascade
) without rowid;

CREATE INDEX task_workspaces_by_conversation on task_workspaces (conversation_id);

CREATE INDEX task_workspaces_by_user on task_workspaces (scope, user_id, created_at);

CREATE TABLE threads (
  pk integer primary key autoincrement,
  thread_id text not null unique,
  scope text not null,
  lineage integer,
  generation integer not null default 0,
  head text,
  checkpoint_seq integer not null default 0,
  event_seq integer not null default 0,
  epoch integer not null default 0,
  lease_owner text,
  lease_until integer,
  bytes integer not null default 0,
  expires_at integer,
  created_at text not null,
  deleted_at text
, deleted_session text);

CREATE INDEX threads_by_deleted_session on threads (deleted_session) where deleted_session is not null;

CREATE INDEX threads_by_expiry on threads (expires_at) where expires_at is not null;

CREATE INDEX threads_by_lineage on threads (lineage);

CREATE TABLE tool_calls (
  pk integer primary key autoincrement,
  thread integer not null,
  checkpoint_ns text not null,
  tool_call_id text not null,
  run_id text not null,
  scope text not null,
  name text not null,
  args text not null,
  on_crash text not null,
  status text not null,
  attempt integer not null,
  epoch integer not null,
  idempotency_key text not null,
  result text,
  created_at text not null,
  finished_at text,
  unique (thread, checkpoint_ns, tool_call_id)
);

CREATE INDEX tool_calls_by_run on tool_calls (run_id);

CREATE TABLE user_profiles (
  scope text not null,
  user_id text not null,
  profile_data text not null,
  created_at text not null,
  updated_at text not null,
  primary key (scope, user_id)
) without rowid;

CREATE TABLE workspaces (
  thread integer not null primary key,
  scope text not null,
  snapshot_id text not null,
  updated_at text not null
) without rowid;

CREATE INDEX workspaces_by_scope on workspaces (scope);
