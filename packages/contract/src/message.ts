import { z } from "zod";
import { Content, ContentInput } from "./content.ts";
import { Id, idempotent } from "./id.ts";
import { JsonObject, JsonObjectInput } from "./json.ts";
import { MAX_URL_LENGTH } from "./limits.ts";
import { pageInfo, paging } from "./page.ts";
import { ModelName } from "./session-config.ts";
import { Timestamp } from "./time.ts";

export const MessageRole = z.enum(["user", "assistant", "system", "tool"]);
export type MessageRole = z.infer<typeof MessageRole>;

export const ToolCall = z.strictObject({ id: z.string(), name: z.string(), args: JsonObject });
export type ToolCall = z.infer<typeof ToolCall>;

/**
 * Why an answer is not whole: it reached its maximum length, or its provider would say no more of it. Of such a message its metadata
 * has it, as `stop_reason`.
 */
export const StopReason = z.enum(["max_tokens", "refusal"]);
export type StopReason = z.infer<typeof StopReason>;

export function stopReasonOf({ metadata }: Pick<Message, "metadata">): StopReason | undefined {
  return StopReason.safeParse(metadata["stop_reason"]).data;
}

/** A message that summarisation took out of the agent's state stays readable, with `metadata.summarized: true`. */
export const Message = z.strictObject({
  id: z.string(),
  session_id: z.string(),
  role: MessageRole,
  content: Content,
  tool_calls: z.array(ToolCall),
  tool_call_id: z.string().nullable(),
  token_count: z.int().nonnegative().nullable(),
  model_used: z.string().nullable(),
  parent_id: z.string().nullable(),
  metadata: JsonObject,
  run_id: z.string().nullable(),
  checkpoint_id: z.string().nullable(),
  created_at: Timestamp,
});
export type Message = z.infer<typeof Message>;

/** What a message does while a run is active: wait its turn, be refused, or take over. */
export const OnBusy = z.enum(["enqueue", "reject", "interrupt"]);
export type OnBusy = z.infer<typeof OnBusy>;

export const CallbackUrl = z
  .url({ protocol: /^https?$/, error: "callback_url must be an http or https address" })
  .max(MAX_URL_LENGTH, { error: `callback_url is longer than the limit of ${MAX_URL_LENGTH} characters` });

export const SendMessage = z.strictObject({
  content: ContentInput,
  parent_id: Id.optional(),
  model: ModelName.optional(),
  callback_url: CallbackUrl.optional(),
  on_busy: OnBusy.default("enqueue"),
  input: JsonObjectInput.optional(),
  context: JsonObjectInput.optional(),
  ...idempotent,
});
export type SendMessage = z.infer<typeof SendMessage>;
export type SendMessageInput = z.input<typeof SendMessage>;

export const ListMessages = z.strictObject({
  ...paging,
  order: z.enum(["desc", "asc"]).default("desc"),
  role: MessageRole.optional(),
  checkpoint_id: Id.optional(),
});
export type ListMessages = z.infer<typeof ListMessages>;
export type ListMessagesInput = z.input<typeof ListMessages>;

export const MessagePage = z.strictObject({ messages: z.array(Message), ...pageInfo });
export type MessagePage = z.infer<typeof MessagePage>;

export const RebuildResult = z.strictObject({
  checked: z.int().nonnegative(),
  repaired: z.int().nonnegative(),
  added: z.int().nonnegative(),
  removed: z.int().nonnegative(),
});
export type RebuildResult = z.infer<typeof RebuildResult>;
