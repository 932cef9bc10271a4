import { CreateProvider, MAX_MODEL_NAME_LENGTH } from "@cognition/contract";
import { z } from "zod";
import { oneOf, onOff, option, section, wholeNumber, words } from "../option.ts";

const HOUR_MS = 3_600_000;
const ProviderEntry = CreateProvider.omit({ idempotency_key: true });

export const ModelsSection = section({
  providers: option(z.array(ProviderEntry, { error: "must be a list of providers" }).default([]), {
    description:
      "Model providers: `{id, provider, model, base_url, api_key_env, priority, enabled, max_retries, timeout_ms}`. The lowest priority is tried first.",
  }),
  key_hosts: option(
    z.record(z.string(), z.array(z.string()), { error: "must map variables to lists of hosts" }).default({}),
    { description: "Hosts that the key in a variable may be sent to, besides its maker's own." },
  ),
  default_provider: option(words("the id of a provider").optional(), {
    description: "The provider where neither message, session nor agent names one.",
    unset: "the first enabled one by priority",
  }),
  default_model: option(words("the name of a model").max(MAX_MODEL_NAME_LENGTH).optional(), {
    description: "The model where neither message, session nor agent names one.",
    unset: "the provider's own",
  }),
  fallback: option(onOff().default(false), {
    description:
      "Whether the next provider is tried when one fails before its first token. Off: no conversation goes to another company unasked.",
  }),
  offline: option(oneOf(["auto", "on", "off"]).default("auto"), {
    description: "The built-in model that needs no key. `auto`: only while no other provider is enabled.",
  }),
  retry: section({
    base_ms: option(wholeNumber(1, HOUR_MS).default(500), { description: "Pause before the first repetition." }),
    max_ms: option(wholeNumber(1, HOUR_MS).default(8000), { description: "The longest pause." }),
    max_retry_after_ms: option(wholeNumber(0, HOUR_MS).default(60_000), {
      description: "A provider that asks for a longer pause is not waited for.",
    }),
  }),
  timeouts: section({
    connect_ms: option(wholeNumber(1, HOUR_MS).optional(), {
      description: "Until a provider's answer begins.",
      unset: "the provider's timeout_ms",
    }),
    first_token_ms: option(wholeNumber(1, HOUR_MS).optional(), {
      description: "Until the first piece of the answer.",
      unset: "the provider's timeout_ms",
    }),
    idle_ms: option(wholeNumber(1, HOUR_MS).optional(), {
      description: "Between two pieces.",
      unset: "the provider's timeout_ms",
    }),
    total_ms: option(wholeNumber(1, 24 * HOUR_MS).optional(), {
      description: "The whole answer.",
      unset: "ten times the provider's timeout_ms",
    }),
  }),
  circuit_breaker: section({
    failure_threshold: option(wholeNumber(1, 1000).default(5), { description: "Failures in a row that open it." }),
    open_ms: option(wholeNumber(1, HOUR_MS).default(60_000), { description: "How long it stays open." }),
    half_open_calls: option(wholeNumber(1, 1000).default(3), { description: "Trial calls at once afterwards." }),
    success_threshold: option(wholeNumber(1, 1000).default(3), { description: "Successful trials that close it." }),
  }),
});
