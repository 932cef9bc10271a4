import { createHash } from "node:crypto";
import type { Scope } from "@cognition/contract";

export interface KeyOfRequest {
  readonly key: string;
  readonly hash: string;
  readonly scope: Scope | undefined;
  /** When the key was first claimed for this request. */
  readonly since: string;
}

/**
 * What a request with a key creates has this id. It stays the same when the request is sent again after its server died
 * before it could note the answer, so that what was made is found and not made twice. A UUID of version 7, since ids tell
 * when a thing was made; what is random in others comes from the key.
 */
export function keyId({ key, hash, scope = {}, since }: KeyOfRequest): string {
  const members = Object.entries(scope).sort(([a], [b]) => (a < b ? -1 : 1));
  const digest = createHash("sha256")
    .update(JSON.stringify([members, key, hash, since]))
    .digest("hex");
  const time = Date.parse(since).toString(16).padStart(12, "0");
  const variant = ((Number.parseInt(digest.slice(3, 4), 16) & 0x3) | 0x8).toString(16);
  return `${time.slice(0, 8)}-${time.slice(8)}-7${digest.slice(0, 3)}-${variant}${digest.slice(4, 7)}-${digest.slice(7, 19)}`;
}
