import type { Conversation, Profile, TaskExecution, TaskWorkspace } from "@cognition/contract";
import { copyJson } from "./copy-json.ts";
import { newExecution } from "./execution.ts";
import { toProfile } from "./profile-data.ts";
import type { StoredTask, TaskChanged } from "./task-store.ts";
import { toWorkspace } from "./workspace-data.ts";

export type DeepReadonly<T> = T extends object ? { readonly [K in keyof T]: DeepReadonly<T[K]> } : T;

/**
 * A task in four parts. Profile, conversation and workspace show what is stored and are changed through the functions
 * of `Tasks` alone: profile and workspace are frozen, since an edit in place would be lost. Execution is the caller's.
 */
export interface State {
  readonly task_id: string;
  readonly query: string;
  readonly user_id: string;
  readonly conversation_id: string;
  readonly profile: DeepReadonly<Profile>;
  readonly conversation: DeepReadonly<Conversation>;
  readonly workspace: DeepReadonly<TaskWorkspace>;
  readonly execution: TaskExecution;
}

type Writable = { -readonly [K in keyof State]: State[K] } & { conversation: Conversation };

export function toState(task: StoredTask): State {
  const { task_id, query, user_id, conversation_id, messages, last_updated } = task;
  return {
    ...{ task_id, query, user_id, conversation_id },
    profile: freeze(toProfile(task.profile)),
    conversation: { conversation_id, user_id, messages, last_updated },
    workspace: freeze(toWorkspace(task.workspace)),
    execution: newExecution(messages),
  };
}

/**
 * Called once the change is durable, so that the state is never ahead of the storage. `seen` are the ids of its
 * messages: a message sent again with its id gives the first one, which is there already.
 */
export function applyChanged(state: State, seen: Set<string>, { messages, profile, workspace }: TaskChanged): void {
  const target = state as Writable;
  if (profile) target.profile = freeze(toProfile(profile));
  if (workspace) target.workspace = freeze(toWorkspace(workspace));
  for (const message of messages) {
    if (seen.has(message.id)) continue;
    seen.add(message.id);
    target.conversation.messages.push(message);
    target.execution.messages.push(copyJson(message));
    target.conversation.last_updated = message.created_at;
  }
}

function freeze<T>(value: T): DeepReadonly<T> {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const member of Object.values(value)) freeze(member);
  }
  return value as DeepReadonly<T>;
}
