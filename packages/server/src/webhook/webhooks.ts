import type { Storage } from "@cognition/thread";
import { createAddressGuard } from "../outgoing/address-guard.ts";
import { createGuardedFetch } from "../outgoing/guarded-fetch.ts";
import type { RunEngineOptions } from "../run/run-engine.ts";
import { createCallbackCheck } from "./callback-check.ts";
import { createDeliveryOf } from "./completion.ts";
import { createWebhookSender, type WebhookSender } from "./webhook-sender.ts";

export interface WebhooksOptions {
  readonly storage: Storage;
  readonly settings: {
    readonly secrets: readonly string[];
    readonly allow_addresses: readonly string[];
    readonly timeout_ms: number;
  };
  readonly onError: (error: unknown) => void;
}

export interface Webhooks extends Pick<WebhookSender, "start" | "stop" | "wake"> {
  /** What the run engine asks: whether an address may be called, what a run owes at its end, and that it is owed. */
  readonly hooks: Required<Pick<RunEngineOptions, "checkCallback" | "deliveryOf" | "onOwed">>;
}

/** Callbacks: from the run's end, through the outbox, to whoever asked to be told. */
export function createWebhooks({ storage, settings, onError }: WebhooksOptions): Webhooks {
  const { allow_addresses: allow, secrets, timeout_ms: timeoutMs } = settings;
  const sender = createWebhookSender({ storage, fetch: createGuardedFetch({ allow }), secrets, timeoutMs, onError });
  return {
    start: sender.start,
    stop: sender.stop,
    wake: sender.wake,
    hooks: {
      checkCallback: createCallbackCheck(createAddressGuard(allow)),
      deliveryOf: createDeliveryOf({ now: () => new Date() }),
      onOwed: sender.wake,
    },
  };
}
