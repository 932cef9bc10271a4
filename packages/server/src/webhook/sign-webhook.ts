import { createHmac } from "node:crypto";
import { AppError } from "@cognition/contract";

const PREFIX = "whsec_";
/** Standard Webhooks asks for 24 to 64 bytes; a shorter secret could be guessed. */
const MIN_BYTES = 24;
const MAX_BYTES = 64;

/** The key in a secret as Standard Webhooks writes it: `whsec_` and base64. Throws `invalid_config` for another. */
export function parseWebhookSecret(secret: string): Buffer {
  const text = secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret;
  const key = Buffer.from(text, "base64");
  const isBase64 = key.toString("base64").replace(/=+$/, "") === text.replace(/=+$/, "");
  if (isBase64 && key.length >= MIN_BYTES && key.length <= MAX_BYTES) return key;
  throw new AppError(
    "invalid_config",
    `A webhook secret must be whsec_ followed by ${MIN_BYTES} to ${MAX_BYTES} random bytes in base64, ` +
      'such as "whsec_$(openssl rand -base64 32)" gives.',
  );
}

export interface SignedContent {
  readonly id: string;
  /** Seconds since 1970. */
  readonly timestamp: number;
  readonly body: string;
}

/** One signature for each key, so that a receiver may know the old secret or the new one while it is exchanged. */
export function signWebhook(keys: readonly Buffer[], { id, timestamp, body }: SignedContent): string {
  const text = `${id}.${timestamp}.${body}`;
  return keys.map((key) => `v1,${createHmac("sha256", key).update(text).digest("base64")}`).join(" ");
}
