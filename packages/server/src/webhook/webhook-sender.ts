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
const MAX_SENDING = 64;
/** To one receiver: as many as it takes in a moment, and a quarter of all while it does not answer. */
const MAX_TO_ONE = 16;
/** Few at a time, since all of them may be for one receiver. */
const MAX_CLAIMED = 8;
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
  /** What is on its way, and to whom. */
  const sending = new Map<Promise<void>, string>();
  const leave = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let looking: Promise<void> | undefined;
  let again = false;
  let running = false;
  /** Whether there may be more that is due than there was room for. */
  let more = false;

  async function attempt(delivery: Delivery): Promise<void> {
    try {
      const became = await sendDelivery(delivery, send, leave.signal);
      await storage.recordAttempt(delivery.id, became);
    } catch (error) {
      // Not recorded: the claim runs out, and whoever claims it next sends it again under the same id.
      if (!leave.signal.aborted) options.onError(error);
    }
  }

  function begin(delivery: Delivery): void {
    const one: Promise<void> = attempt(delivery).finally(() => {
      sending.delete(one);
      if (more) wake();
    });
    sending.set(one, receiverOf(delivery));
  }

  async function look(): Promise<void> {
    do {
      again = false;
      const limit = Math.min(maxSending - sending.size, MAX_CLAIMED);
      if (!running || limit <= 0) return;
      const except = busyOf(sending.values());
      const due = await storage.claimDeliveries({ limit, lease_ms: timeoutMs + LEASE_SLACK_MS, except });
      for (const delivery of due) begin(delivery);
      again ||= due.length === limit;
      more = again || except.length > 0;
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
      await Promise.all(sending.keys());
      clearTimeout(late);
    },
  };
}

/** A receiver that is slow to answer has its share; what else it is owed must not keep the others waiting. */
function busyOf(receivers: Iterable<string>): string[] {
  const counts = new Map<string, number>();
  for (const receiver of receivers) counts.set(receiver, (counts.get(receiver) ?? 0) + 1);
  return [...counts].filter(([, count]) => count > MAX_TO_ONE - MAX_CLAIMED).map(([receiver]) => receiver);
}

/** As `claimDeliveries` takes it. */
function receiverOf({ url }: Delivery): string {
  return /^[^/?#]*\/*[^/?#]*/.exec(url)?.[0] ?? url;
}
