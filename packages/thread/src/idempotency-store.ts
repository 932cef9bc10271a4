import type { Scope } from "@cognition/contract";

export interface IdempotencyStore {
  /**
   * `new` to exactly one caller; `pending` while that one works; `done` with its response afterwards. A claim that ran out
   * without a response is new again, and `since` is still when the same request first had the key: its work may have been
   * done by somebody who died before he could say so.
   */
  claimIdempotencyKey(claim: {
    scope?: Scope;
    key: string;
    body_hash: string;
    ttl_ms?: number;
  }): Promise<{ state: "new"; since: string } | { state: "pending" } | { state: "done"; response: unknown }>;
  /** Kept for `ttl_ms` from now, or for as long as the claim said. */
  saveIdempotentResponse(answer: { scope?: Scope; key: string; response: unknown; ttl_ms?: number }): Promise<void>;
  /** Frees a key whose request changed nothing. */
  releaseIdempotencyKey(key: { scope?: Scope; key: string }): Promise<void>;
  /** Its request is still worked on: nobody else gets it for so long from now. Never shortens what is done. */
  renewIdempotencyKey(key: { scope?: Scope; key: string; ttl_ms: number }): Promise<void>;
  /** Forgets what is past its time; a claim without a response only a day later, when nobody tries again. */
  pruneIdempotencyKeys(): Promise<number>;
}
