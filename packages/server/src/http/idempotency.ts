import { createHash } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { AppError, IDEMPOTENCY_KEY_TTL_HOURS, type Scope } from "@cognition/contract";
import type { IdempotencyStore } from "@cognition/thread";

export interface IdempotentRequest {
  readonly key: string;
  /** Of everything that makes the request what it is; see `requestHash`. */
  readonly hash: string;
  readonly scope: Scope | undefined;
  readonly signal: AbortSignal;
}

export interface Idempotency {
  /** Does the work for the first request of a key, and gives what it gave to all later ones. */
  once<T>(request: IdempotentRequest, work: () => Promise<T>): Promise<T>;
}

/** As long as a request may take. After a crash in its middle the key is free again then, and not only a day later. */
const WORK_MS = 60_000;
const KEPT_MS = IDEMPOTENCY_KEY_TTL_HOURS * 3_600_000;
const LOOK_EVERY_MS = 50;
/** How long the second of two equal requests waits for the first. */
const WAIT_MS = 20_000;

export function createIdempotency(storage: IdempotencyStore): Idempotency {
  async function work<T>({ key, scope }: IdempotentRequest, task: () => Promise<T>): Promise<T> {
    const place = { key, scope: scope ?? {} };
    let result: T;
    try {
      result = await task();
    } catch (error) {
      await storage.releaseIdempotencyKey(place);
      throw error;
    }
    await storage.saveIdempotentResponse({ ...place, response: result, ttl_ms: KEPT_MS });
    return result;
  }

  return {
    async once<T>(request: IdempotentRequest, task: () => Promise<T>): Promise<T> {
      const { key, hash, scope, signal } = request;
      const deadline = performance.now() + WAIT_MS;
      for (;;) {
        const claim = { key, scope: scope ?? {}, body_hash: hash, ttl_ms: WORK_MS };
        const state = await storage.claimIdempotencyKey(claim);
        if (state.state === "new") return work(request, task);
        if (state.state === "done") return state.response as T;
        if (performance.now() > deadline) throw stillWorking(key);
        await delay(LOOK_EVERY_MS, undefined, { signal });
      }
    },
  };
}

/** The key's own field is no part of it: it may come as a header the next time. */
export function requestHash(route: string, params: unknown, query: unknown, body: object): string {
  const { idempotency_key: _, ...fields } = body as Record<string, unknown>;
  const text = JSON.stringify([route, params ?? null, query ?? null, fields], sortKeys);
  return createHash("sha256").update(text).digest("base64url");
}

function sortKeys(_key: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function stillWorking(key: string): AppError {
  return new AppError(
    "concurrent_writer",
    `The first request with the idempotency key ${key} is still being worked on. Send this one again in a while.`,
    { details: { retry_after_s: 5 } },
  );
}
