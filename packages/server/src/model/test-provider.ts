import { AppError, isAppError, type ProviderTest } from "@cognition/contract";
import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import type { Clock } from "./clock.ts";

/** Asks for one word, to tell whether address, key and model are right. A failure is the answer, not an exception. */
export async function testProvider(
  model: string | null,
  create: () => Promise<BaseChatModel>,
  clock: Clock,
): Promise<ProviderTest> {
  const began = clock.now();
  try {
    const chat = await create();
    await chat.invoke("Reply with the word ok.");
    return { ok: true, model, latency_ms: clock.now() - began, error: null };
  } catch (error) {
    const known = isAppError(error) ? error : new AppError("model_failed", "The provider could not be called.");
    return { ok: false, model, latency_ms: null, error: { code: known.code, message: known.message } };
  }
}
