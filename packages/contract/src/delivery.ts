import { z } from "zod";
import { ErrorInfo } from "./error.ts";
import { Id } from "./id.ts";
import { pageInfo, paging } from "./page.ts";
import { Timestamp } from "./time.ts";

/** What `callback_url` receives when a run ends or waits for a human. */
export const Completion = z.strictObject({
  session_id: z.string(),
  message_id: z.string().nullable(),
  status: z.enum(["done", "error", "aborted", "waiting"]),
  output: z.string().nullable(),
  token_usage: z.strictObject({ input: z.int().nonnegative(), output: z.int().nonnegative() }),
  model_used: z.string().nullable(),
  /** Sent with milliseconds; receivers also know the documented form without. */
  completed_at: z.iso.datetime(),
  error: ErrorInfo.optional(),
});
export type Completion = z.infer<typeof Completion>;

export const DeliveryStatus = z.enum(["pending", "delivered", "dead"]);
export type DeliveryStatus = z.infer<typeof DeliveryStatus>;

/** `status` is the HTTP status, null where no answer came. */
export const DeliveryAttempt = z.strictObject({
  attempt: z.int().positive(),
  at: Timestamp,
  status: z.int().nullable(),
  error: z.string().nullable(),
  duration_ms: z.number().nonnegative(),
});
export type DeliveryAttempt = z.infer<typeof DeliveryAttempt>;

/** `id` is the `webhook-id` header: the same over all attempts, so that a receiver can drop a repeat. */
export const Delivery = z.strictObject({
  id: z.string(),
  session_id: z.string(),
  run_id: z.string(),
  url: z.string(),
  status: DeliveryStatus,
  payload: Completion,
  attempts: z.array(DeliveryAttempt),
  next_attempt_at: Timestamp.nullable(),
  created_at: Timestamp,
  delivered_at: Timestamp.nullable(),
});
export type Delivery = z.infer<typeof Delivery>;

export const ListDeliveries = z.strictObject({
  ...paging,
  status: DeliveryStatus.optional(),
  session_id: Id.optional(),
});
export type ListDeliveries = z.infer<typeof ListDeliveries>;

export const DeliveryPage = z.strictObject({ deliveries: z.array(Delivery), ...pageInfo });
export type DeliveryPage = z.infer<typeof DeliveryPage>;
