import type { RunSession } from "../run-store.ts";
import type { Storage } from "../storage.ts";
import { contextText } from "./context-text.ts";
import { toProfile } from "./profile-data.ts";
import type { OpenTask } from "./task-store.ts";
import { toWorkspace } from "./workspace-data.ts";

/** Who a session is for and what it works on, as of now. */
export interface SessionContext {
  /** For a prompt; empty where nothing is known. */
  about_user: string;
  task: OpenTask | null;
}

/** The user of the session's scope, or else the one whose task it works on. */
export async function sessionContext(
  { tasks, profiles }: Pick<Storage, "tasks" | "profiles">,
  { id, scopes, has_task }: Pick<RunSession, "id" | "scopes" | "has_task">,
): Promise<SessionContext> {
  const task = has_task ? await tasks.findTask(id, scopes) : null;
  const user_id = scopes["user"] ?? task?.user_id;
  const profile = user_id === undefined ? null : await profiles.getProfile(user_id, scopes);
  if (!profile) return { about_user: "", task };
  // A task of another user's on this conversation is not this one's business.
  const workspace = task?.user_id === user_id && task ? { workspace: toWorkspace(task.workspace) } : {};
  return { about_user: contextText({ profile: toProfile(profile), ...workspace }), task };
}
