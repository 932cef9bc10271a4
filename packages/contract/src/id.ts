import { z } from "zod";
import { MAX_ID_LENGTH, MAX_IDEMPOTENCY_KEY_LENGTH, MAX_THREAD_ID_LENGTH } from "./limits.ts";
import { text } from "./text.ts";

export const Uuid = z.uuid();
export type Uuid = z.infer<typeof Uuid>;

/** Opaque. In a path it is not required to be a uuid: an id of any other form is one that is not found. */
export const Id = text("id", MAX_ID_LENGTH, 1);
export type Id = z.infer<typeof Id>;

/** The library takes any text as a thread's id; a session's thread has a uuid. */
export const ThreadId = text("thread_id", MAX_THREAD_ID_LENGTH, 1);
export type ThreadId = z.infer<typeof ThreadId>;

export const IdempotencyKey = text("idempotency_key", MAX_IDEMPOTENCY_KEY_LENGTH, 1);
export type IdempotencyKey = z.infer<typeof IdempotencyKey>;

/** Every POST takes the key in its body or in the `Idempotency-Key` header. */
export const idempotent = { idempotency_key: IdempotencyKey.optional() };

export const EmptyBody = z.strictObject(idempotent);
export type EmptyBody = z.infer<typeof EmptyBody>;
