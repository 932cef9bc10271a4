import { AppError, type ErrorCode } from "@cognition/contract";
import type { ModelFailure } from "./model-error.ts";

interface Failed {
  readonly source: {
    readonly provider: { readonly id: string; readonly api_key_env: string | null };
    readonly model: string;
  };
  readonly failure: ModelFailure;
  readonly attempts: number;
}

const KEPT = "What was said and done so far is kept.";

const ADVICE: Partial<Record<ErrorCode, string>> = {
  model_rate_limited: "Try again later, or use another provider.",
  model_auth_failed: "Check the key, its permissions and the account's credit.",
  unknown_model: "Name a model that this provider has, or pin the provider that has this one with provider_id.",
  context_overflow: "Start a new session, go back to an earlier point, or use a model with a larger context.",
  model_timeout: "Send the message again, or raise the provider's timeout_ms if it is known to be slow.",
};

/** The one error of a call whose every attempt failed. The first provider's failure names the code: it is the one asked for. */
export function explainFailure(failed: readonly Failed[], given: boolean): AppError {
  const [first, ...others] = failed;
  if (!first) return new AppError("internal", "A model call ended without an answer and without a failure.");
  const { failure } = first;
  const parts = [
    describe(first),
    ...(given ? ["The answer was cut off; its beginning was already given out, so it was not tried again."] : []),
    ...others.map((other) => `Fallback: ${describe(other)}`),
    KEPT,
    ADVICE[failure.code] ?? "Send the message again, or use another provider.",
  ];
  return new AppError(failure.code, parts.join(" "), {
    details: {
      provider_id: first.source.provider.id,
      model: first.source.model,
      attempts: first.attempts,
      ...(failure.status !== undefined && { status: failure.status }),
      ...(failure.retryAfterMs !== undefined && { retry_after_ms: failure.retryAfterMs }),
      ...(others.length > 0 && {
        fallbacks: others.map(({ source, failure: { code } }) => ({ provider_id: source.provider.id, code })),
      }),
    },
  });
}

function describe({ source, failure, attempts }: Failed): string {
  const tried = attempts > 1 ? ` after ${attempts} attempts` : "";
  const { id, api_key_env } = source.provider;
  switch (failure.code) {
    case "circuit_open":
    case "model_timeout":
      return `${failure.message}${attempts > 1 ? ` (${attempts} attempts)` : ""}`;
    case "model_auth_failed":
      return `The provider ${id} refused the credentials (${failure.status}), read from ${api_key_env ?? "no variable"}.`;
    case "model_rate_limited":
      return `The provider ${id} refused more requests${tried}${pause(failure)}: ${sentence(failure)}`;
    case "context_overflow":
      return `The conversation is too long for ${source.model} of the provider ${id}: ${sentence(failure)}`;
    case "unknown_model":
      return `The provider ${id} has no model "${source.model}": ${sentence(failure)}`;
    default:
      return `The provider ${id} failed${status(failure)}${tried}: ${sentence(failure)}`;
  }
}

/** With one mark at its end, whether or not it came with one. */
function sentence({ message }: ModelFailure): string {
  return /[.?!…]$/.test(message) ? message : `${message}.`;
}

function pause({ retryAfterMs }: ModelFailure): string {
  return retryAfterMs === undefined ? "" : ` and asks to wait ${Math.ceil(retryAfterMs / 1000)} s`;
}

function status({ status }: ModelFailure): string {
  return status === undefined ? "" : ` (${status})`;
}
