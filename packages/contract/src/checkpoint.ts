import { z } from "zod";
import { FileChange } from "./file.ts";
import { Id, idempotent } from "./id.ts";
import { JsonObject } from "./json.ts";
import { DEFAULT_PAGE_LIMIT, MAX_NAME_LENGTH, MAX_TITLE_LENGTH } from "./limits.ts";
import { Message } from "./message.ts";
import { Limit } from "./page.ts";
import { text } from "./text.ts";
import { Timestamp } from "./time.ts";

export const CheckpointSource = z.enum(["input", "loop", "update", "fork"]);
export type CheckpointSource = z.infer<typeof CheckpointSource>;

export const CheckpointToolCall = z.strictObject({
  id: z.string(),
  name: z.string(),
  status: z.enum(["pending", "running", "waiting", "ok", "error", "denied", "aborted", "unknown"]),
});
export type CheckpointToolCall = z.infer<typeof CheckpointToolCall>;

/** `next` is what the agent was about to do, `tool_calls` how the last ones stood. */
export const Checkpoint = z.strictObject({
  id: z.string(),
  parent_id: z.string().nullable(),
  session_id: z.string(),
  run_id: z.string().nullable(),
  step: z.int(),
  source: CheckpointSource,
  created_at: Timestamp,
  next: z.array(z.string()),
  message_count: z.int().nonnegative(),
  summary: z.string(),
  tool_calls: z.array(CheckpointToolCall),
  snapshot_id: z.string().nullable(),
  is_head: z.boolean(),
});
export type Checkpoint = z.infer<typeof Checkpoint>;

export const PendingTask = z.strictObject({
  id: z.string(),
  name: z.string(),
  error: z.string().nullable(),
  interrupts: z.array(z.unknown()),
});
export type PendingTask = z.infer<typeof PendingTask>;

/** One checkpoint with its full state. */
export const CheckpointState = Checkpoint.extend({
  messages: z.array(Message),
  variables: JsonObject,
  pending_tasks: z.array(PendingTask),
});
export type CheckpointState = z.infer<typeof CheckpointState>;

export const ListCheckpoints = z.strictObject({ limit: Limit.prefault(DEFAULT_PAGE_LIMIT), before: Id.optional() });
export type ListCheckpoints = z.infer<typeof ListCheckpoints>;

export const CheckpointPage = z.strictObject({ checkpoints: z.array(Checkpoint), has_more: z.boolean() });
export type CheckpointPage = z.infer<typeof CheckpointPage>;

/** Without `to`, against the files as they are now. */
export const DiffCheckpoint = z.strictObject({ to: Id.optional() });
export type DiffCheckpoint = z.infer<typeof DiffCheckpoint>;

export const CheckpointDiff = z.strictObject({
  from: z.string(),
  to: z.string().nullable(),
  files: z.array(FileChange),
});
export type CheckpointDiff = z.infer<typeof CheckpointDiff>;

const place = { checkpoint_id: Id.optional(), message_id: Id.optional() };

/** Without a place, from the head. */
export const ForkSession = z
  .strictObject({
    ...place,
    title: text("title", MAX_TITLE_LENGTH).nullable().optional(),
    agent_name: text("agent_name", MAX_NAME_LENGTH, 1).optional(),
    files: z.boolean().default(true),
    ...idempotent,
  })
  .refine((body) => body.checkpoint_id === undefined || body.message_id === undefined, {
    error: "either checkpoint_id or message_id, not both",
  });
export type ForkSession = z.infer<typeof ForkSession>;
export type ForkSessionInput = z.input<typeof ForkSession>;

export const RestorePart = z.enum(["conversation", "files", "artifacts", "memory"]);
export type RestorePart = z.infer<typeof RestorePart>;

/** `last: "turn"` is before the last user message, `last: "tool"` before the last tool action. */
export const RewindSession = z
  .strictObject({
    ...place,
    last: z.enum(["tool", "turn"]).optional(),
    restore: z.array(RestorePart).min(1).default(["conversation", "files"]),
    force: z.boolean().default(false),
    dry_run: z.boolean().default(false),
    ...idempotent,
  })
  .refine((body) => [body.checkpoint_id, body.message_id, body.last].filter((at) => at !== undefined).length === 1, {
    error: "exactly one of checkpoint_id, message_id and last",
  });
export type RewindSession = z.infer<typeof RewindSession>;
export type RewindSessionInput = z.input<typeof RewindSession>;

/** Rewinding to `previous_head` is redo. */
export const RewindResult = z.strictObject({
  previous_head: z.string().nullable(),
  head: z.string().nullable(),
  files: z.array(FileChange),
});
export type RewindResult = z.infer<typeof RewindResult>;
