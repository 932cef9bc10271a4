import type { Dialect } from "../dialect.ts";
import type { Migration } from "./migration.ts";

/** Profiles, the working memory of tasks, whose conversation a session is, and chats with their log. */
export const tasksAndChats: Migration = {
  version: 2,
  name: "tasks-and-chats",
  // Programs that know only the first schema neither read nor write any of this.
  oldestProgram: 1,
  up: (d) => [...tasks(d), ...chats(d)],
};

function tasks({ text, clustered }: Dialect): string[] {
  return [
    // Null for a session that no task has been started on: it is in its scope and nobody's yet.
    `alter table sessions add column user_id ${text}`,
    `create table user_profiles (
  scope ${text} not null,
  user_id ${text} not null,
  profile_data ${text} not null,
  created_at ${text} not null,
  updated_at ${text} not null,
  primary key (scope, user_id)
)${clustered}`,
    `create table task_workspaces (
  scope ${text} not null,
  task_id ${text} not null,
  user_id ${text} not null,
  conversation_id ${text} not null references sessions (id) on delete cascade,
  query ${text} not null,
  workspace_data ${text} not null,
  created_at ${text} not null,
  updated_at ${text} not null,
  primary key (scope, task_id),
  foreign key (scope, user_id) references user_profiles (scope, user_id) on delete cascade
)${clustered}`,
    "create index task_workspaces_by_user on task_workspaces (scope, user_id, created_at)",
    "create index task_workspaces_by_conversation on task_workspaces (conversation_id)",
  ];
}

function chats({ serial, bigint, text }: Dialect): string[] {
  return [
    `create table chats (
  pk ${serial},
  scope ${text} not null,
  user_id ${text} not null,
  chat_id ${text} not null,
  session_id ${text} not null,
  working_directory ${text} not null,
  claude_session_id ${text},
  mode ${text} not null check (mode in ('plan', 'auto')),
  total_cost double precision not null default 0,
  message_count ${bigint} not null default 0,
  is_active ${bigint} not null default 1,
  created_at ${text} not null,
  last_used ${text} not null,
  unique (scope, user_id, chat_id, session_id)
)`,
    // Ended sessions stay; of those that have not ended there is one for each chat, whoever races.
    "create unique index chats_active on chats (scope, user_id, chat_id) where is_active = 1",
    "create index chats_by_use on chats (scope, last_used) where is_active = 1",
    `create table chat_messages (
  id ${serial},
  scope ${text} not null,
  user_id ${text} not null,
  chat_id ${text} not null,
  role ${text} not null check (role in ('user', 'assistant')),
  content ${text} not null,
  cost double precision,
  duration_ms ${bigint},
  session_id ${text},
  created_at ${text} not null
)`,
    "create index chat_messages_in_order on chat_messages (scope, user_id, chat_id, created_at, id)",
  ];
}
