import type { Generated } from "kysely";

/** Tasks and chats of people. */
export interface UserTables {
  user_profiles: UserProfileRow;
  task_workspaces: TaskWorkspaceRow;
  completed_tasks: CompletedTaskRow;
  chats: ChatRow;
  chat_messages: ChatMessageRow;
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

interface CompletedTaskRow {
  scope: string;
  task_id: string;
  user_id: string;
  conversation_id: string;
  completed_at: string;
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
