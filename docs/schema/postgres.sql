CREATE OR REPLACE FUNCTION public.cognition_require(met boolean, what text)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  if met is not true then raise exception '%', what using errcode = 'CG001'; end if;
  return true;
end $function$;

CREATE OR REPLACE FUNCTION public.cognition_unscoped()
 RETURNS boolean
 LANGUAGE sql
 STABLE PARALLEL SAFE
AS $function$
  select coalesce(current_setting('cognition.scope', true), '') = '' and current_user <> 'cognition_request'
$function$;

create table agent_revisions (
  revision text collate "C" not null,
  scope text collate "C" not null,
  agent text collate "C" not null,
  created_at text collate "C" not null,
  PRIMARY KEY (revision, scope)
);

create table agents (
  scope text collate "C" not null,
  name text collate "C" not null,
  definition text collate "C" not null,
  hash text collate "C" not null,
  created_at text collate "C" not null,
  updated_at text collate "C" not null,
  PRIMARY KEY (scope, name)
);

create table api_keys (
  pk bigint generated always as identity not null,
  id text collate "C" not null,
  prefix text collate "C" not null,
  hash text collate "C" not null,
  name text collate "C" not null,
  scope text collate "C",
  admin bigint default 0 not null,
  created_at text collate "C" not null,
  last_used_at text collate "C",
  expires_at text collate "C",
  revoked_at text collate "C",
  PRIMARY KEY (pk),
  UNIQUE (id),
  UNIQUE (prefix)
);

create table artifact_versions (
  artifact_id text collate "C" not null,
  version bigint not null,
  content bytea not null,
  content_type text collate "C" not null,
  encoding text collate "C" not null,
  size bigint not null,
  hash text collate "C" not null,
  reason text collate "C",
  run_id text collate "C",
  checkpoint_id text collate "C",
  created_at text collate "C" not null,
  FOREIGN KEY (artifact_id) REFERENCES artifacts(id) ON DELETE CASCADE,
  PRIMARY KEY (artifact_id, version)
);

create table artifacts (
  pk bigint generated always as identity not null,
  id text collate "C" not null,
  scope text collate "C" not null,
  session_id text collate "C",
  run_id text collate "C",
  name text collate "C" not null,
  artifact_type text collate "C" not null,
  path text collate "C",
  visibility text collate "C" not null,
  version bigint not null,
  created_at text collate "C" not null,
  updated_at text collate "C" not null,
  undone bigint default 0 not null,
  PRIMARY KEY (pk),
  UNIQUE (id)
);

create table budget_reservations (
  id text collate "C" not null,
  budget_id text collate "C" not null,
  stretch text collate "C" not null,
  scope text collate "C" not null,
  cost double precision not null,
  tokens bigint not null,
  expires_at bigint not null,
  run_id text,
  FOREIGN KEY (budget_id, stretch) REFERENCES budget_usage(budget_id, stretch) ON DELETE CASCADE,
  PRIMARY KEY (id, budget_id)
);

create table budget_usage (
  budget_id text collate "C" not null,
  stretch text collate "C" not null,
  scope text collate "C" not null,
  used_cost double precision default 0 not null,
  used_tokens bigint default 0 not null,
  used_steps bigint default 0 not null,
  used_tool_calls bigint default 0 not null,
  used_seconds double precision default 0 not null,
  reserved_cost double precision default 0 not null,
  reserved_tokens bigint default 0 not null,
  unpriced_tokens bigint default 0 not null,
  FOREIGN KEY (budget_id) REFERENCES budgets(id) ON DELETE CASCADE,
  PRIMARY KEY (budget_id, stretch)
);

create table budgets (
  id text collate "C" not null,
  scope text collate "C" not null,
  agent_name text collate "C" not null,
  session_id text collate "C" not null,
  period text collate "C" not null,
  max_cost double precision,
  max_tokens bigint,
  max_steps bigint,
  max_tool_calls bigint,
  max_seconds double precision,
  created_at text collate "C" not null,
  updated_at text collate "C" not null,
  PRIMARY KEY (id),
  UNIQUE (scope, agent_name, session_id, period)
);

create table chat_messages (
  id bigint generated always as identity not null,
  scope text collate "C" not null,
  user_id text collate "C" not null,
  chat_id text collate "C" not null,
  role text collate "C" not null,
  content text collate "C" not null,
  cost double precision,
  duration_ms bigint,
  session_id text collate "C",
  created_at text collate "C" not null,
  CHECK ((role = ANY (ARRAY['user'::text, 'assistant'::text]))),
  PRIMARY KEY (id)
);

create table chats (
  pk bigint generated always as identity not null,
  scope text collate "C" not null,
  user_id text collate "C" not null,
  chat_id text collate "C" not null,
  session_id text collate "C" not null,
  working_directory text collate "C" not null,
  claude_session_id text collate "C",
  mode text collate "C" not null,
  total_cost double precision default 0 not null,
  message_count bigint default 0 not null,
  is_active bigint default 1 not null,
  created_at text collate "C" not null,
  last_used text collate "C" not null,
  CHECK ((mode = ANY (ARRAY['plan'::text, 'auto'::text]))),
  PRIMARY KEY (pk),
  UNIQUE (scope, user_id, chat_id, session_id)
);

create table checkpoint_writes (
  thread bigint not null,
  ns text collate "C" not null,
  checkpoint_id text collate "C" not null,
  task_id text collate "C" not null,
  idx bigint not null,
  channel text collate "C" not null,
  value bytea not null,
  task_path text collate "C" default ''::text not null,
  PRIMARY KEY (thread, ns, checkpoint_id, task_id, idx)
);

create table checkpoints (
  thread bigint not null,
  seq bigint not null,
  ns text collate "C" not null,
  checkpoint_id text collate "C" not null,
  parent_id text collate "C",
  body bytea not null,
  metadata text collate "C" not null,
  snapshot text collate "C",
  PRIMARY KEY (thread, seq)
);

create table circuit_breakers (
  scope text collate "C" not null,
  name text collate "C" not null,
  failures bigint not null,
  open_until bigint not null,
  PRIMARY KEY (scope, name)
);

create table completed_tasks (
  scope text collate "C" not null,
  task_id text collate "C" not null,
  user_id text collate "C" not null,
  conversation_id text collate "C" not null,
  completed_at text collate "C" not null,
  FOREIGN KEY (conversation_id) REFERENCES sessions(id) ON DELETE CASCADE,
  PRIMARY KEY (scope, task_id)
);

create table definition_changes (
  kind text collate "C" not null,
  version bigint not null,
  PRIMARY KEY (kind)
);

create table deliveries (
  pk bigint generated always as identity not null,
  id text collate "C" not null,
  session_id text collate "C" not null,
  run_id text collate "C" not null,
  scope text collate "C" not null,
  url text collate "C" not null,
  payload text collate "C" not null,
  status text collate "C" not null,
  attempts text collate "C" not null,
  next_attempt_at bigint,
  claimed_until bigint,
  created_at text collate "C" not null,
  delivered_at text collate "C",
  PRIMARY KEY (pk),
  UNIQUE (id)
);

create table events (
  thread bigint not null,
  seq bigint not null,
  run bigint,
  ordinal bigint,
  event text collate "C" not null,
  data text collate "C" not null,
  folded bigint default 0 not null,
  created_at text collate "C" not null,
  PRIMARY KEY (thread, seq)
);

create table idempotency_keys (
  scope text collate "C" not null,
  key text collate "C" not null,
  body_hash text collate "C" not null,
  response text collate "C",
  created_at text collate "C" not null,
  expires_at bigint not null,
  PRIMARY KEY (scope, key)
);

create table memory_changes (
  pk bigint generated always as identity not null,
  thread bigint not null,
  checkpoint_id text collate "C",
  scope text collate "C" not null,
  namespace text collate "C" not null,
  key text collate "C" not null,
  before text collate "C",
  after text collate "C",
  created_at text collate "C" not null,
  before_ttl_ms bigint,
  before_expires_at bigint,
  after_ttl_ms bigint,
  after_expires_at bigint,
  PRIMARY KEY (pk)
);

create table messages (
  pk bigint generated always as identity not null,
  session_id text collate "C" not null,
  id text collate "C" not null,
  scope text collate "C" not null,
  position bigint,
  role text collate "C" not null,
  content text collate "C" not null,
  tool_calls text collate "C" not null,
  tool_call_id text collate "C",
  token_count bigint,
  model_used text collate "C",
  parent_id text collate "C",
  metadata text collate "C" not null,
  run_id text collate "C",
  checkpoint_id text collate "C",
  left_state text collate "C",
  created_at text collate "C" not null,
  FOREIGN KEY (session_id) REFERENCES sessions(id) ON DELETE CASCADE,
  PRIMARY KEY (pk),
  UNIQUE (session_id, id)
);

create table pieces (
  lineage bigint not null,
  id bigint not null,
  value bytea not null,
  PRIMARY KEY (lineage, id)
);

create table providers (
  scope text collate "C" not null,
  name text collate "C" not null,
  definition text collate "C" not null,
  hash text collate "C" not null,
  created_at text collate "C" not null,
  updated_at text collate "C" not null,
  PRIMARY KEY (scope, name)
);

create table rate_limits (
  scope text collate "C" not null,
  full_at bigint not null,
  PRIMARY KEY (scope)
);

create table run_usage (
  pk bigint generated always as identity not null,
  scope text collate "C" not null,
  session_id text collate "C" not null,
  run_id text collate "C" not null,
  agent_name text collate "C" not null,
  model text collate "C" not null,
  day text collate "C" not null,
  input_tokens bigint not null,
  output_tokens bigint not null,
  estimated_cost double precision,
  PRIMARY KEY (pk),
  UNIQUE (run_id, model)
);

create table runs (
  pk bigint generated always as identity not null,
  id text collate "C" not null,
  session_id text collate "C" not null,
  thread bigint not null,
  scope text collate "C" not null,
  status text collate "C" not null,
  attempt bigint default 0 not null,
  stalled_attempts bigint default 0 not null,
  epoch bigint default 0 not null,
  resumes text collate "C",
  agent_name text collate "C" not null,
  agent_revision text collate "C",
  model text collate "C",
  input text collate "C" not null,
  usage text collate "C",
  error text collate "C",
  trace_id text collate "C",
  checkpoint_id text collate "C",
  abort_requested_at text collate "C",
  created_at text collate "C" not null,
  started_at text collate "C",
  finished_at text collate "C",
  compacted_at text collate "C",
  callback_url text collate "C",
  FOREIGN KEY (session_id) REFERENCES sessions(id) ON DELETE CASCADE,
  PRIMARY KEY (pk),
  UNIQUE (id)
);

create table schema_migrations (
  version bigint not null,
  name text collate "C" not null,
  hash text collate "C" not null,
  oldest_program bigint not null,
  applied_at text collate "C" not null,
  PRIMARY KEY (version)
);

create table sessions (
  pk bigint generated always as identity not null,
  id text collate "C" not null,
  thread_id text collate "C" not null,
  scope text collate "C" not null,
  title text collate "C",
  status text collate "C" not null,
  agent_name text collate "C" not null,
  mode text collate "C" not null,
  config text collate "C" not null,
  metadata text collate "C" not null,
  workspace_path text collate "C",
  message_count bigint default 0 not null,
  parent_session_id text collate "C",
  parent_checkpoint_id text collate "C",
  created_at text collate "C" not null,
  updated_at text collate "C" not null,
  user_id text collate "C",
  inherits bigint default 0 not null,
  PRIMARY KEY (pk),
  UNIQUE (id),
  UNIQUE (thread_id)
);

create table snapshot_objects (
  scope text collate "C" not null,
  hash text collate "C" not null,
  kind text collate "C" not null,
  base text collate "C",
  pack bigint not null,
  start bigint not null,
  size bigint not null,
  PRIMARY KEY (scope, hash)
);

create table snapshot_packs (
  pk bigint generated always as identity not null,
  scope text collate "C" not null,
  encoding text collate "C" not null,
  size bigint not null,
  content bytea not null,
  created_ms bigint not null,
  thread bigint,
  PRIMARY KEY (pk)
);

create table snapshot_scopes (
  scope text collate "C" not null,
  bytes bigint default 0 not null,
  PRIMARY KEY (scope)
);

create table store_items (
  scope text collate "C" not null,
  namespace text collate "C" not null,
  key text collate "C" not null,
  value text collate "C" not null,
  ttl_ms bigint,
  expires_at bigint,
  created_at text collate "C" not null,
  updated_at text collate "C" not null,
  PRIMARY KEY (scope, namespace, key)
);

create table task_workspaces (
  scope text collate "C" not null,
  task_id text collate "C" not null,
  user_id text collate "C" not null,
  conversation_id text collate "C" not null,
  query text collate "C" not null,
  workspace_data text collate "C" not null,
  created_at text collate "C" not null,
  updated_at text collate "C" not null,
  FOREIGN KEY (conversation_id) REFERENCES sessions(id) ON DELETE CASCADE,
  FOREIGN KEY (scope, user_id) REFERENCES user_profiles(scope, user_id) ON DELETE CASCADE,
  PRIMARY KEY (scope, task_id)
);

create table threads (
  pk bigint generated always as identity not null,
  thread_id text collate "C" not null,
  scope text collate "C" not null,
  lineage bigint,
  generation bigint default 0 not null,
  head text collate "C",
  checkpoint_seq bigint default 0 not null,
  event_seq bigint default 0 not null,
  epoch bigint default 0 not null,
  lease_owner text collate "C",
  lease_until bigint,
  bytes bigint default 0 not null,
  expires_at bigint,
  created_at text collate "C" not null,
  deleted_at text collate "C",
  deleted_session text,
  PRIMARY KEY (pk),
  UNIQUE (thread_id)
);

create table tool_calls (
  pk bigint generated always as identity not null,
  thread bigint not null,
  checkpoint_ns text collate "C" not null,
  tool_call_id text collate "C" not null,
  run_id text collate "C" not null,
  scope text collate "C" not null,
  name text collate "C" not null,
  args text collate "C" not null,
  on_crash text collate "C" not null,
  status text collate "C" not null,
  attempt bigint not null,
  epoch bigint not null,
  idempotency_key text collate "C" not null,
  result text collate "C",
  created_at text collate "C" not null,
  finished_at text collate "C",
  PRIMARY KEY (pk),
  UNIQUE (thread, checkpoint_ns, tool_call_id)
);

create table user_profiles (
  scope text collate "C" not null,
  user_id text collate "C" not null,
  profile_data text collate "C" not null,
  created_at text collate "C" not null,
  updated_at text collate "C" not null,
  PRIMARY KEY (scope, user_id)
);

create table workspaces (
  thread bigint not null,
  scope text collate "C" not null,
  snapshot_id text collate "C" not null,
  updated_at text collate "C" not null,
  PRIMARY KEY (thread)
);

CREATE INDEX artifacts_by_scope ON public.artifacts USING btree (scope, pk);

CREATE INDEX artifacts_by_session ON public.artifacts USING btree (session_id, pk);

CREATE INDEX budget_reservations_by_expiry ON public.budget_reservations USING btree (budget_id, stretch, expires_at);

CREATE INDEX budget_reservations_by_run ON public.budget_reservations USING btree (run_id);

CREATE INDEX chat_messages_in_order ON public.chat_messages USING btree (scope, user_id, chat_id, created_at, id);

CREATE UNIQUE INDEX chats_active ON public.chats USING btree (scope, user_id, chat_id) WHERE (is_active = 1);

CREATE INDEX chats_by_use ON public.chats USING btree (scope, last_used) WHERE (is_active = 1);

CREATE UNIQUE INDEX checkpoints_by_id ON public.checkpoints USING btree (thread, ns, checkpoint_id);

CREATE INDEX completed_tasks_by_conversation ON public.completed_tasks USING btree (conversation_id);

CREATE INDEX deliveries_by_scope ON public.deliveries USING btree (scope, pk);

CREATE INDEX deliveries_by_session ON public.deliveries USING btree (session_id, pk);

CREATE INDEX deliveries_done ON public.deliveries USING btree (created_at) WHERE (status <> 'pending'::text);

CREATE INDEX deliveries_due ON public.deliveries USING btree (next_attempt_at) WHERE (status = 'pending'::text);

CREATE UNIQUE INDEX events_once ON public.events USING btree (run, ordinal);

CREATE UNIQUE INDEX events_one_end ON public.events USING btree (run) WHERE (event = 'done'::text);

CREATE INDEX idempotency_keys_by_expiry ON public.idempotency_keys USING btree (expires_at);

CREATE INDEX memory_changes_by_thread ON public.memory_changes USING btree (thread, pk);

CREATE INDEX messages_by_id ON public.messages USING btree (id);

CREATE INDEX messages_by_position ON public.messages USING btree (session_id, "position");

CREATE INDEX run_usage_by_day ON public.run_usage USING btree (scope, day);

CREATE INDEX run_usage_by_session ON public.run_usage USING btree (session_id);

CREATE INDEX runs_by_session ON public.runs USING btree (session_id, pk);

CREATE INDEX runs_claimable ON public.runs USING btree (pk) WHERE (status = ANY (ARRAY['queued'::text, 'running'::text]));

CREATE INDEX runs_in_line ON public.runs USING btree (session_id, pk) WHERE (status = ANY (ARRAY['queued'::text, 'running'::text, 'waiting_for_approval'::text]));

CREATE INDEX runs_queued ON public.runs USING btree (scope) WHERE (status = 'queued'::text);

CREATE INDEX runs_to_compact ON public.runs USING btree (finished_at) WHERE (compacted_at IS NULL);

CREATE INDEX sessions_by_parent ON public.sessions USING btree (parent_session_id) WHERE (parent_session_id IS NOT NULL);

CREATE INDEX sessions_by_scope ON public.sessions USING btree (scope, pk);

CREATE INDEX snapshot_packs_by_age ON public.snapshot_packs USING btree (scope, created_ms);

CREATE INDEX snapshot_packs_by_scope ON public.snapshot_packs USING btree (scope, pk);

CREATE INDEX store_items_by_expiry ON public.store_items USING btree (scope, expires_at) WHERE (expires_at IS NOT NULL);

CREATE INDEX task_workspaces_by_conversation ON public.task_workspaces USING btree (conversation_id);

CREATE INDEX task_workspaces_by_user ON public.task_workspaces USING btree (scope, user_id, created_at);

CREATE INDEX threads_by_deleted_session ON public.threads USING btree (deleted_session) WHERE (deleted_session IS NOT NULL);

CREATE INDEX threads_by_expiry ON public.threads USING btree (expires_at) WHERE (expires_at IS NOT NULL);

CREATE INDEX threads_by_lineage ON public.threads USING btree (lineage);

CREATE INDEX tool_calls_by_run ON public.tool_calls USING btree (run_id);

CREATE INDEX workspaces_by_scope ON public.workspaces USING btree (scope);

create policy scope on agent_revisions using ((( SELECT cognition_unscoped() AS cognition_unscoped) OR (scope = ( SELECT current_setting('cognition.scope'::text, true) AS current_setting))));

create policy scope on agents using ((( SELECT cognition_unscoped() AS cognition_unscoped) OR (scope = ( SELECT current_setting('cognition.scope'::text, true) AS current_setting))));

create policy scope on api_keys using (( SELECT cognition_unscoped() AS cognition_unscoped));

create policy scope on artifact_versions using ((( SELECT cognition_unscoped() AS cognition_unscoped) OR (EXISTS ( SELECT
   FROM artifacts
  WHERE (artifacts.id = artifact_versions.artifact_id)))));

create policy scope on artifacts using ((( SELECT cognition_unscoped() AS cognition_unscoped) OR (scope = ( SELECT current_setting('cognition.scope'::text, true) AS current_setting))));

create policy scope on budget_reservations using ((( SELECT cognition_unscoped() AS cognition_unscoped) OR (scope = ( SELECT current_setting('cognition.scope'::text, true) AS current_setting))));

create policy scope on budget_usage using ((( SELECT cognition_unscoped() AS cognition_unscoped) OR (scope = ( SELECT current_setting('cognition.scope'::text, true) AS current_setting))));

create policy scope on budgets using ((( SELECT cognition_unscoped() AS cognition_unscoped) OR (scope = ( SELECT current_setting('cognition.scope'::text, true) AS current_setting))));

create policy scope on chat_messages using ((( SELECT cognition_unscoped() AS cognition_unscoped) OR (scope = ( SELECT current_setting('cognition.scope'::text, true) AS current_setting))));

create policy scope on chats using ((( SELECT cognition_unscoped() AS cognition_unscoped) OR (scope = ( SELECT current_setting('cognition.scope'::text, true) AS current_setting))));

create policy scope on checkpoint_writes using ((( SELECT cognition_unscoped() AS cognition_unscoped) OR (EXISTS ( SELECT
   FROM threads
  WHERE (threads.pk = checkpoint_writes.thread)))));

create policy scope on checkpoints using ((( SELECT cognition_unscoped() AS cognition_unscoped) OR (EXISTS ( SELECT
   FROM threads
  WHERE (threads.pk = checkpoints.thread)))));

create policy scope on circuit_breakers using (( SELECT cognition_unscoped() AS cognition_unscoped));

create policy scope on completed_tasks using ((( SELECT cognition_unscoped() AS cognition_unscoped) OR (scope = ( SELECT current_setting('cognition.scope'::text, true) AS current_setting))));

create policy scope on definition_changes using (( SELECT cognition_unscoped() AS cognition_unscoped));

create policy scope on deliveries using ((( SELECT cognition_unscoped() AS cognition_unscoped) OR (scope = ( SELECT current_setting('cognition.scope'::text, true) AS current_setting))));

create policy scope on events using ((( SELECT cognition_unscoped() AS cognition_unscoped) OR (EXISTS ( SELECT
   FROM threads
  WHERE (threads.pk = events.thread)))));

create policy scope on idempotency_keys using ((( SELECT cognition_unscoped() AS cognition_unscoped) OR (scope = ( SELECT current_setting('cognition.scope'::text, true) AS current_setting))));

create policy scope on memory_changes using ((( SELECT cognition_unscoped() AS cognition_unscoped) OR (scope = ( SELECT current_setting('cognition.scope'::text, true) AS current_setting))));

create policy scope on messages using ((( SELECT cognition_unscoped() AS cognition_unscoped) OR (scope = ( SELECT current_setting('cognition.scope'::text, true) AS current_setting))));

create policy scope on pieces using ((( SELECT cognition_unscoped() AS cognition_unscoped) OR (EXISTS ( SELECT
   FROM threads
  WHERE (threads.pk = pieces.lineage)))));

create policy scope on providers using ((( SELECT cognition_unscoped() AS cognition_unscoped) OR (scope = ( SELECT current_setting('cognition.scope'::text, true) AS current_setting))));

create policy scope on rate_limits using (( SELECT cognition_unscoped() AS cognition_unscoped));

create policy scope on run_usage using ((( SELECT cognition_unscoped() AS cognition_unscoped) OR (scope = ( SELECT current_setting('cognition.scope'::text, true) AS current_setting))));

create policy scope on runs using ((( SELECT cognition_unscoped() AS cognition_unscoped) OR (scope = ( SELECT current_setting('cognition.scope'::text, true) AS current_setting))));

create policy scope on sessions using ((( SELECT cognition_unscoped() AS cognition_unscoped) OR (scope = ( SELECT current_setting('cognition.scope'::text, true) AS current_setting))));

create policy scope on snapshot_objects using ((( SELECT cognition_unscoped() AS cognition_unscoped) OR (scope = ( SELECT current_setting('cognition.scope'::text, true) AS current_setting))));

create policy scope on snapshot_packs using ((( SELECT cognition_unscoped() AS cognition_unscoped) OR (scope = ( SELECT current_setting('cognition.scope'::text, true) AS current_setting))));

create policy scope on snapshot_scopes using ((( SELECT cognition_unscoped() AS cognition_unscoped) OR (scope = ( SELECT current_setting('cognition.scope'::text, true) AS current_setting))));

create policy scope on store_items using ((( SELECT cognition_unscoped() AS cognition_unscoped) OR (scope = ( SELECT current_setting('cognition.scope'::text, true) AS current_setting))));

create policy scope on task_workspaces using ((( SELECT cognition_unscoped() AS cognition_unscoped) OR (scope = ( SELECT current_setting('cognition.scope'::text, true) AS current_setting))));

create policy scope on threads using ((( SELECT cognition_unscoped() AS cognition_unscoped) OR (scope = ( SELECT current_setting('cognition.scope'::text, true) AS current_setting))));

create policy scope on tool_calls using ((( SELECT cognition_unscoped() AS cognition_unscoped) OR (scope = ( SELECT current_setting('cognition.scope'::text, true) AS current_setting))));

create policy scope on user_profiles using ((( SELECT cognition_unscoped() AS cognition_unscoped) OR (scope = ( SELECT current_setting('cognition.scope'::text, true) AS current_setting))));

create policy scope on workspaces using ((( SELECT cognition_unscoped() AS cognition_unscoped) OR (scope = ( SELECT current_setting('cognition.scope'::text, true) AS current_setting))));
