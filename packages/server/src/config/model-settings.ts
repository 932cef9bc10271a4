import type { ModelRegistryOptions } from "../model/model-registry.ts";
import type { Config } from "./config-schema.ts";

type Settings = Pick<
  ModelRegistryOptions,
  "providers" | "keyHosts" | "defaults" | "fallback" | "offline" | "breaker" | "retry" | "timeouts"
>;

/** What the model registry takes of the configuration. */
export function modelSettings({ models }: Config): Settings {
  const { retry, timeouts, circuit_breaker: breaker } = models;
  return {
    providers: models.providers.map((provider) => ({ ...provider, scope: {}, source: "file" })),
    keyHosts: models.key_hosts,
    defaults: { provider_id: models.default_provider, model: models.default_model },
    fallback: models.fallback,
    offline: models.offline,
    breaker: {
      failureThreshold: breaker.failure_threshold,
      openMs: breaker.open_ms,
      halfOpenCalls: breaker.half_open_calls,
      successThreshold: breaker.success_threshold,
    },
    retry: { baseMs: retry.base_ms, maxMs: retry.max_ms, maxRetryAfterMs: retry.max_retry_after_ms },
    timeouts: {
      ...(timeouts.connect_ms !== undefined && { connectMs: timeouts.connect_ms }),
      ...(timeouts.first_token_ms !== undefined && { firstTokenMs: timeouts.first_token_ms }),
      ...(timeouts.idle_ms !== undefined && { idleMs: timeouts.idle_ms }),
      ...(timeouts.total_ms !== undefined && { totalMs: timeouts.total_ms }),
    },
  };
}
