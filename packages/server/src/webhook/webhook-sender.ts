import type { Delivery } from "@cognition/contract";
import type { DeliveryStore } from "@cognition/thread";
import type { GuardedFetch } from "../outgoing/guarded-fetch.ts";
import { type SendOptions, sendDelivery } from "./send-delivery.ts";
import { parseWebhookSecret } from "./sign-webhook.ts";

export interface WebhookSenderOptions {
  readonly storage: Pick<DeliveryStore, "claimDeliveries" | "recordAttempt">;
  /** Reaches public addresses only, or those that the configuration allows. */
  readonly fetch: GuardedFetch;
  /** As Standard Webhooks writes them; each signs. Without any, callbacks go out unsigned. */
  readonly secrets?: readonly string[];
  readonly timeoutMs?: number;
  readonly pollMs?: number;
  /** Callbacks at once on this node. */
  readonly maxSending?: number;
  readonly clock?: { now(): number };
  readonly random?: () => number;
  readonly onError: (error: unknown) => void;
}

export interface WebhookSender {
  start(): void;
  /** Looks for what is due now rather than at the next poll. */
  wake(): void;
  /** Claims no more; what is on its way may end within the time, and is otherwise left to another node. */
  stop(within_ms?: number): Promise<void>;
}

const TIMEOUT_MS = 15_000;
const POLL_MS = 1_000;
const MAX_SENDING = 16;
const STOP_MS = 5_000;
/** Beyond the timeout, so that no other node takes up a delivery that is still on its way. */
const LEASE_SLACK_MS = 15_000;

/** Sends what the outbox holds. Any number of nodes may: each delivery is claimed by one at a time, and sent at least once. */
export function createWebhookSender(options: WebhookSenderOptions): WebhookSender {
  const { storage, clock = Date, timeoutMs = TIMEOUT_MS, pollMs = POLL_MS, maxSending = MAX_SENDING } = options;
  const keys = (options.secrets ?? []).map(parseWebhookSecret);
  const send: SendOptions = {
    fetch: options.fetch,
    keys,
    timeoutMs,
    now: () => clock.now(),
    random: options.random ?? Math.random,
  };
  const sending = new Set<Promise<void>>();
  const leave = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let looking: Promise<void> | undefined;
  let again = false;
  let running = false;

  async function attempt(delivery: Delivery): Promise<void> {
    try {
      const became = await sendDelivery(delivery, send, leave.signal);
      await storage.recordAttempt(delivery.id, became);
    } catch (error) {
      // Not recorded: the claim runs out, and whoever claims it next sends it again under the same id.
      if (!leave.signal.aborted) options.onError(error);
    }
  }

  async function look(): Promise<void> {
    do {
      again = false;
      const free = maxSending - sending.size;
      if (!running || free <= 0) return;
      const due = await storage.claimDeliveries({ limit: free, lease_ms: timeoutMs + LEASE_SLACK_MS });
      for (const delivery of due) {
        const one: Promise<void> = attempt(delivery).finally(() => {
          sending.delete(one);
          if (due.length === free) wake(); // there may be more than there was room for
        });
        sending.add(one);
      }
    } while (again);
  }

  function wake(): void {
    if (!running) return;
    again = true;
    looking ??= look()
      .catch(options.onError)
      .finally(() => {
        looking = undefined;
        if (again) wake();
      });
  }

  return {
    wake,
    start() {
      if (running) return;
      running = true;
      timer = setInterval(wake, pollMs);
      timer.unref();
      wake();
    },
    async stop(within_ms = STOP_MS) {
      running = false;
      clearInterval(timer);
      await looking;
      const late = setTimeout(() => leave.abort(), within_ms);
      await Promise.all(sending);
      clearTimeout(late);
    },
  };
}
