import { z } from "zod";
import { MAX_NAME_LENGTH } from "./limits.ts";
import { Scope } from "./scope.ts";
import { text } from "./text.ts";
import { Timestamp } from "./time.ts";

/** What is known of a key. The key itself is shown once, when it is made, and kept nowhere. */
export const ApiKey = z.strictObject({
  id: z.string(),
  /** How the key begins, so that a person can tell which one it is. Of no use without the rest. */
  prefix: z.string(),
  name: z.string(),
  /** The scope it stands for; null for a key that may act for any scope its request names. */
  scope: Scope.nullable(),
  admin: z.boolean(),
  created_at: Timestamp,
  last_used_at: Timestamp.nullable(),
  expires_at: Timestamp.nullable(),
  revoked_at: Timestamp.nullable(),
});
export type ApiKey = z.infer<typeof ApiKey>;

export const CreateApiKey = z.strictObject({
  name: text("name", MAX_NAME_LENGTH, 1),
  scope: Scope.nullable(),
  admin: z.boolean().default(false),
  expires_at: Timestamp.nullable().default(null),
});
export type CreateApiKey = z.infer<typeof CreateApiKey>;
