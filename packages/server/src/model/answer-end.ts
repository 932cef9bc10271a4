import { AppError } from "@cognition/contract";

const CUT: ReadonlySet<string> = new Set([
  "length",
  "max_tokens",
  "max_output_tokens",
  "model_context_window_exceeded",
]);
const REFUSED: ReadonlySet<string> = new Set([
  ...["content_filter", "refusal"],
  // Google's, and Bedrock's.
  ...["safety", "recitation", "blocklist", "prohibited_content", "spii", "image_safety"],
  ...["content_filtered", "guardrail_intervened"],
]);

/** Whether an answer that ended for this reason, in its provider's words, had no room for more. */
export function isCut(reason: string | undefined): boolean {
  return reason !== undefined && CUT.has(reason);
}

/** For an answer that came to its end and says nothing: no text, no call. */
export function emptyAnswer(provider_id: string, reason: string | undefined): AppError {
  const details = { provider_id, ...(reason !== undefined && { reason }) };
  if (reason !== undefined && REFUSED.has(reason)) {
    const message = `The provider ${provider_id} refused to answer (${reason}).`;
    return new AppError("model_failed", message, { details: { ...details, retryable: false } });
  }
  if (isCut(reason)) {
    const message = `The provider ${provider_id} gave an empty answer: its maximum length was reached before a word was said (${reason}). Raise max_tokens.`;
    return new AppError("model_failed", message, { details: { ...details, retryable: false } });
  }
  return new AppError("model_failed", `The provider ${provider_id} gave an empty answer.`, { details });
}

/** For a connection that closed cleanly in the middle of an answer. */
export function cutOff(provider_id: string): AppError {
  return new AppError("model_failed", `The provider ${provider_id} ended its answer before it was complete.`, {
    details: { provider_id },
  });
}
