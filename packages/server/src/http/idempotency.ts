import { createHash } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { AppError, IDEMPOTENCY_KEY_TTL_HOURS, isAppError, type Scope } from "@cognition/contract";
import type { IdempotencyStore } from "@cognition/thread";
import { retryStorage } from "../run/retry-storage.ts";
import { keyId } from "./key-id.ts";

export interface IdempotentRequest {
  readonly key: string;
  /** Of everything that makes the request what it is; see `requestHash`. */
  readonly hash: string;
  readonly scope: Scope | undefined;
  readonly signal: AbortSignal;
  /** Whether the work, done again with the same `key_id`, does nothing twice. */
  readonly repeatable?: boolean;
}

export interface Idempotency {
  /**
   * Does the work for the first request of a key, and gives what it gave to all later ones. Work whose outcome nobody could
   * note is done again, with the same `key_id`.
   */
  once<T>(request: IdempotentRequest, work: (key_id: string) => Promise<T>): Promise<T>;
}

/** After a crash in the middle of a request its key is free again so soon; until then it is renewed. */
const CLAIM_MS = 6_000;
const RENEWALS_PER_CLAIM = 3;
/** How long an answer waits for a storage that went away: what is not kept would be done twice. */
const KEEP_WITHIN_MS = 10_000;
const KEPT_MS = IDEMPOTENCY_KEY_TTL_HOURS * 3_600_000;
/** A task's answers hold its whole conversation, which would be stored once more for each of its messages; a search finds megabytes. */
const KEPT_LENGTH = 64 * 1024;
const LOOK_EVERY_MS = 50;
/** How long the second of two equal requests waits for the first. */
const WAIT_MS = 20_000;

/** Kept in the place of a long answer: how to come by it again. */
interface AskAgain {
  readonly again: string;
}

type Work<T> = (key_id: string) => Promise<T>;

export function createIdempotency(storage: IdempotencyStore): Idempotency {
  async function work<T>({ key, scope, repeatable }: IdempotentRequest, key_id: string, task: Work<T>): Promise<T> {
    const place = { key, scope: scope ?? {} };
    const renewal = setInterval(() => {
      // One that fails is no harm, the next one may not; and the work itself finds out what is wrong.
      storage.renewIdempotencyKey({ ...place, ttl_ms: CLAIM_MS }).catch(() => undefined);
    }, CLAIM_MS / RENEWALS_PER_CLAIM);
    try {
      const result = await task(key_id).catch(async (error) => {
        // Otherwise it runs out by itself, and says since when: what failed half-way may have left something behind.
        if (isRefusal(error)) await settle(() => storage.releaseIdempotencyKey(place)).catch(() => undefined);
        throw error;
      });
      const response = repeatable && isLong(result) ? ({ again: key_id } satisfies AskAgain) : result;
      await settle(() => storage.saveIdempotentResponse({ ...place, response, ttl_ms: KEPT_MS }));
      return result;
    } finally {
      clearInterval(renewal);
    }
  }

  return {
    async once<T>(request: IdempotentRequest, task: Work<T>): Promise<T> {
      const { key, hash, scope, signal } = request;
      const deadline = performance.now() + WAIT_MS;
      for (;;) {
        const claim = { key, scope: scope ?? {}, body_hash: hash, ttl_ms: CLAIM_MS };
        const state = await storage.claimIdempotencyKey(claim);
        if (state.state === "new") return work(request, keyId({ ...request, since: state.since }), task);
        if (state.state === "done") return answerOf(state.response, task);
        if (performance.now() > deadline) throw stillWorking(key);
        if (signal.aborted) throw goneMeanwhile(key);
        await delay(LOOK_EVERY_MS);
      }
    },
  };
}

function isLong(answer: unknown): boolean {
  return JSON.stringify(answer).length > KEPT_LENGTH;
}

async function answerOf<T>(response: unknown, task: Work<T>): Promise<T> {
  const { again } = (response ?? {}) as Partial<AskAgain>;
  return again === undefined ? (response as T) : task(again);
}

/** Of what was refused nothing was done. Where the storage went away in the middle, nobody knows. */
function isRefusal(error: unknown): boolean {
  return isAppError(error) && !isAppError(error, "internal", "storage_unavailable", "storage_closed");
}

function settle(write: () => Promise<void>): Promise<void> {
  return retryStorage(AbortSignal.timeout(KEEP_WITHIN_MS), write);
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

/** The client has left, or this node does: no fault of the server's. */
function goneMeanwhile(key: string): AppError {
  return new AppError(
    "draining",
    `The wait for the first request with the idempotency key ${key} was ended; ask again`,
  );
}

function stillWorking(key: string): AppError {
  return new AppError(
    "concurrent_writer",
    `The first request with the idempotency key ${key} is still being worked on. Send this one again in a while.`,
    { details: { retry_after_s: 5 } },
  );
}
