import type { StopReason } from "@cognition/contract";

/** In the words of their providers. By any other an answer has come to its own end. */
const WORDS: Readonly<Record<StopReason, readonly string[]>> = {
  max_tokens: ["length", "max_tokens", "max_output_tokens", "model_context_window_exceeded"],
  refusal: [
    ...["content_filter", "refusal"],
    // Google's, and Bedrock's.
    ...["safety", "recitation", "blocklist", "prohibited_content", "spii", "image_safety"],
    ...["content_filtered", "guardrail_intervened"],
  ],
};

const REASONS: ReadonlyMap<unknown, StopReason> = new Map(
  (Object.keys(WORDS) as StopReason[]).flatMap((reason) => WORDS[reason].map((word) => [word, reason] as const)),
);

/** Why an answer is not whole, by the word that its provider has for its end. */
export function readStopReason(word: unknown): StopReason | undefined {
  return typeof word === "string" ? REASONS.get(word.toLowerCase()) : undefined;
}
