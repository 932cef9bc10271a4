import { type Delivery, isAppError } from "@cognition/contract";
import type { DeliveryStore } from "@cognition/thread";
import { messageOf } from "../file/error-text.ts";
import type { GuardedFetch } from "../outgoing/guarded-fetch.ts";
import { nextAttemptMs, retryAfterMs } from "./retry-schedule.ts";
import { signWebhook } from "./sign-webhook.ts";

export interface SendOptions {
  readonly fetch: GuardedFetch;
  readonly keys: readonly Buffer[];
  readonly timeoutMs: number;
  readonly now: () => number;
  readonly random: () => number;
}

type Attempt = Parameters<DeliveryStore["recordAttempt"]>[1];

/** Standard Webhooks: the receiver wants no more of these, ever. */
const GONE = 410;
const MAX_ERROR_LENGTH = 500;

/** One attempt, and what is to become of the delivery after it. Rejects only when the signal aborts: nothing is known then. */
export async function sendDelivery(delivery: Delivery, options: SendOptions, signal: AbortSignal): Promise<Attempt> {
  const began = options.now();
  const took = () => Math.max(0, options.now() - began);
  try {
    const { status, headers } = await post(delivery, options, signal);
    const ended = { status_code: status, duration_ms: took() };
    if (status >= 200 && status < 300) return { ...ended, ok: true, error: null };
    const error =
      status >= 300 && status < 400 ? `answered ${status}: redirects are not followed` : `answered ${status}`;
    if (status === GONE) return { ...ended, ok: false, error: `${error}: gone, and not tried again` };
    return failed(delivery, options, { ...ended, error }, retryAfterMs(headers["retry-after"], options.now()));
  } catch (error) {
    signal.throwIfAborted();
    const ended = {
      status_code: null,
      duration_ms: took(),
      error: messageOf(error).slice(0, MAX_ERROR_LENGTH).toWellFormed(),
    };
    // Trying again would only ask the same forbidden address; who allows it can have it delivered again.
    if (isAppError(error, "address_refused")) return { ...ended, ok: false };
    return failed(delivery, options, ended);
  }
}

function post({ id, url, payload }: Delivery, options: SendOptions, signal: AbortSignal) {
  const body = JSON.stringify(payload);
  const timestamp = Math.floor(options.now() / 1000);
  const signature = signWebhook(options.keys, { id, timestamp, body });
  return options.fetch(url, {
    method: "POST",
    body,
    headers: {
      "content-type": "application/json",
      "content-length": String(Buffer.byteLength(body)),
      "webhook-id": id,
      "webhook-timestamp": String(timestamp),
      ...(signature !== "" && { "webhook-signature": signature }),
    },
    signal,
    timeoutMs: options.timeoutMs,
    followRedirects: false,
    discardBody: true,
  });
}

type Failure = Pick<Attempt, "status_code" | "error"> & { duration_ms: number };

function failed({ attempts }: Delivery, { random }: SendOptions, failure: Failure, wait = 0): Attempt {
  const next_attempt_ms = nextAttemptMs(attempts.length + 1, random, wait);
  return { ...failure, ok: false, ...(next_attempt_ms !== undefined && { next_attempt_ms }) };
}
