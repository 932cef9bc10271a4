import { timingSafeEqual } from "node:crypto";
import type { ApiKey } from "@cognition/contract";
import type { ApiKeyStore } from "@cognition/thread";
import type { Authenticate } from "../guard.ts";
import { findPrefix, hashApiKey } from "./api-key-text.ts";
import { findCredential, missingCredential, unauthorized } from "./credential.ts";

export interface KeyOptions {
  apiKeys: ApiKeyStore;
  clock: () => Date;
  onError: (error: unknown) => void;
}

/** A write for every request would cost more than the request; to the minute is what people ask for. */
const TOUCH_EVERY_MS = 60_000;
/** Compared against where there is no such key, so that one with a known beginning takes no longer. */
const NO_HASH = "0".repeat(64);

/** Asks the storage each time, so that a revoked key ends with the next request on every node. */
export function createKeyAuthenticator({ apiKeys, clock, onError }: KeyOptions): Authenticate {
  const touched = new Map<string, number>();

  function touch({ id }: ApiKey, now: number): void {
    if (now - (touched.get(id) ?? Number.NEGATIVE_INFINITY) < TOUCH_EVERY_MS) return;
    touched.set(id, now);
    // Not waited for: the request is right or wrong whether or not its time was noted.
    apiKeys.touchApiKey(id).catch(onError);
  }

  return async (headers) => {
    const key = findCredential(headers);
    if (key === undefined) throw missingCredential();
    const prefix = findPrefix(key);
    if (prefix === undefined) throw unauthorized("The credential is not an API key of this server.");
    const found = await apiKeys.findApiKey(prefix);
    const same = timingSafeEqual(Buffer.from(hashApiKey(key)), Buffer.from(found?.hash ?? NO_HASH));
    if (!found || !same) throw unauthorized("There is no such API key.");
    const now = clock();
    refuseIfEnded(found.api_key, now);
    touch(found.api_key, now.getTime());
    const { scope, admin } = found.api_key;
    return { admin, ...(scope === null ? {} : { scope }) };
  };
}

/** Only whoever has the whole key gets this far, and may be told more. */
function refuseIfEnded({ prefix, revoked_at, expires_at }: ApiKey, now: Date): void {
  if (revoked_at !== null) throw unauthorized(`The API key ${prefix}… was revoked at ${revoked_at}.`);
  if (expires_at !== null && Date.parse(expires_at) <= now.getTime()) {
    throw unauthorized(`The API key ${prefix}… expired at ${expires_at}.`);
  }
}
