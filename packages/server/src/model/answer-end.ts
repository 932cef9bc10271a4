import { AppError } from "@cognition/contract";
import { readStopReason } from "@cognition/thread";

/** For an answer that came to its end and says nothing: no text, no call. */
export function emptyAnswer(provider_id: string, reason: string | undefined): AppError {
  const details = { provider_id, ...(reason !== undefined && { reason }) };
  const stopped = readStopReason(reason);
  if (stopped === "refusal") {
    const message = `The provider ${provider_id} refused to answer (${reason}).`;
    return new AppError("model_failed", message, { details: { ...details, retryable: false } });
  }
  if (stopped === "max_tokens") {
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
