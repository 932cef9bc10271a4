import { z } from "zod";
import { Content, ContentInput } from "./content.ts";
import { Id, idempotent } from "./id.ts";
import { JsonObject, JsonObjectInput } from "./json.ts";
import { MAX_LIST_ITEMS, MAX_SYSTEM_PROMPT_LENGTH, MAX_TEXT_LENGTH } from "./limits.ts";
import { MessageRole } from "./message.ts";
import { DEFAULT_USER_ID, Profile, UserId } from "./profile.ts";
import { text } from "./text.ts";
import { Timestamp } from "./time.ts";

/** A message of a session is one too. */
export const ConversationMessage = z.looseObject({ role: MessageRole, content: Content });
export type ConversationMessage = z.infer<typeof ConversationMessage>;

/** Survives its tasks. Its id is a session's id: there is no second history. */
export const Conversation = z.strictObject({
  conversation_id: z.string(),
  user_id: z.string(),
  messages: z.array(ConversationMessage),
  last_updated: Timestamp,
});
export type Conversation = z.infer<typeof Conversation>;

/** Working memory of one task, deleted when the task is complete. */
export const TaskWorkspace = z.strictObject({
  objective: z.string(),
  assessment: z.string(),
  approach: z.string(),
  observations: z.array(z.string()),
  insights: z.array(z.string()),
  facts: JsonObject,
  thoughts: z.array(JsonObject),
});
export type TaskWorkspace = z.infer<typeof TaskWorkspace>;

/** Exists while a task is being worked on; never stored. */
export const TaskExecution = z.strictObject({
  iteration: z.int().nonnegative(),
  max_iterations: z.int().positive(),
  mode: z.string(),
  stop_reason: z.string().nullable(),
  messages: z.array(ConversationMessage),
  response: z.string().nullable(),
  pending_calls: z.array(JsonObject),
  completed_calls: z.array(JsonObject),
  iterations_without_tools: z.int().nonnegative(),
});
export type TaskExecution = z.infer<typeof TaskExecution>;

export const Task = z.strictObject({
  task_id: z.string(),
  query: z.string(),
  user_id: z.string(),
  conversation_id: z.string(),
  profile: Profile,
  conversation: Conversation,
  workspace: TaskWorkspace,
  execution: TaskExecution.nullable(),
});
export type Task = z.infer<typeof Task>;

export const StartTask = z.strictObject({
  query: text("query", MAX_SYSTEM_PROMPT_LENGTH, 1),
  user_id: UserId.default(DEFAULT_USER_ID),
  conversation_id: Id.optional(),
  ...idempotent,
});
export type StartTask = z.infer<typeof StartTask>;
export type StartTaskInput = z.input<typeof StartTask>;

/** A `user_id` that is given must be the task's. */
export const ContinueTask = z.strictObject({ user_id: UserId.optional(), ...idempotent });
export type ContinueTask = z.infer<typeof ContinueTask>;

export const AddTaskMessage = z.strictObject({ role: MessageRole, content: ContentInput, ...idempotent });
export type AddTaskMessage = z.infer<typeof AddTaskMessage>;

const note = (name: string) => text(name, MAX_TEXT_LENGTH);

/** A field that is given replaces that field. */
export const UpdateTaskWorkspace = z
  .strictObject({
    objective: note("objective"),
    assessment: note("assessment"),
    approach: note("approach"),
    observations: z.array(note("observation")).max(MAX_LIST_ITEMS),
    insights: z.array(note("insight")).max(MAX_LIST_ITEMS),
    facts: JsonObjectInput,
    thoughts: z.array(JsonObjectInput).max(MAX_LIST_ITEMS),
  })
  .partial();
export type UpdateTaskWorkspace = z.infer<typeof UpdateTaskWorkspace>;

export const CompletedTask = z.strictObject({
  task_id: z.string(),
  conversation_id: z.string(),
  completed_at: Timestamp,
});
export type CompletedTask = z.infer<typeof CompletedTask>;
