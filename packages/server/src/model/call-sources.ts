import type { BaseMessage } from "@langchain/core/messages";
import type { ChatGenerationChunk } from "@langchain/core/outputs";
import type { Settle } from "../breaker/circuit-breaker.ts";
import { cutOff, emptyAnswer } from "./answer-end.ts";
import type { Clock } from "./clock.ts";
import { explainFailure } from "./explain-failure.ts";
import { type ModelFailure, readFailure } from "./model-error.ts";
import { type ModelSource, openSource, type SourceCallOptions } from "./model-source.ts";
import { DEFAULT_RETRY, type RetrySettings, retryDelay } from "./retry-policy.ts";
import { isVisible, StreamAccount } from "./stream-account.ts";
import { type CallOrigin, type CallUsage, toCallUsage } from "./usage.ts";
import { watchStream } from "./watch-stream.ts";

/** One attempt at one provider, for logs, metrics and budgets: an attempt that failed may have cost money too. */
export interface ModelCallRecord {
  readonly provider_id: string;
  readonly model: string;
  readonly attempt: number;
  readonly outcome: "succeeded" | "failed" | "aborted";
  readonly duration_ms: number;
  /** Null where the provider had not begun to answer. */
  readonly usage: CallUsage | null;
  readonly error: ModelFailure | null;
}

export interface CallDependencies {
  readonly clock: Clock;
  readonly random: () => number;
  readonly redact: (text: string) => string;
  readonly retry?: Partial<RetrySettings> | undefined;
  readonly onCall?: ((record: ModelCallRecord) => void) | undefined;
  /** Before a breaker is asked: it may have been opened elsewhere. */
  readonly beforeCall?: (() => Promise<void>) | undefined;
}

interface Call extends CallDependencies {
  readonly messages: readonly BaseMessage[];
  readonly options: SourceCallOptions;
}

/** What became of an attempt. A failed one may be followed by another only while `given` is false. */
interface Attempt {
  failure: ModelFailure | undefined;
  given: boolean;
}

/**
 * Streams an answer from the first source that gives one. Attempts are repeated, and the next source is tried, only before
 * anything was given out: a second beginning after half an answer would be read as its continuation.
 */
export async function* callSources(sources: readonly ModelSource[], call: Call): AsyncGenerator<ChatGenerationChunk> {
  const failed: { source: ModelSource; failure: ModelFailure; attempts: number }[] = [];
  for (const source of sources) {
    const fallback_from = failed.map(({ source: { provider } }) => provider.id);
    for (let attempt = 0; ; attempt++) {
      const result: Attempt = { failure: undefined, given: false };
      yield* tryOnce(source, call, attempt, fallback_from, result);
      if (!result.failure) return;
      if (!result.given && (await mayRetry(source, call, attempt, result.failure))) continue;
      failed.push({ source, failure: result.failure, attempts: attempt + 1 });
      // What a fallback refuses may be its own fault: its model is another one, with less room, or gone.
      const mayGoOn = result.failure.elsewhere || failed.length > 1;
      if (result.given || !mayGoOn) throw explainFailure(failed, result.given);
      break;
    }
  }
  throw explainFailure(failed, false);
}

async function mayRetry(source: ModelSource, call: Call, attempt: number, failure: ModelFailure): Promise<boolean> {
  if (!failure.retryable || attempt >= source.provider.max_retries) return false;
  const delay = retryDelay(attempt, failure.retryAfterMs, call.random, { ...DEFAULT_RETRY, ...call.retry });
  if (delay === undefined) return false;
  await call.clock.sleep(delay, call.options.signal);
  return true;
}

async function* tryOnce(
  source: ModelSource,
  call: Call,
  attempt: number,
  fallback_from: readonly string[],
  result: Attempt,
): AsyncGenerator<ChatGenerationChunk> {
  const { signal } = call.options;
  const account = new StreamAccount(source, call.messages);
  const began = call.clock.now();
  let settle: Settle | undefined;
  let outcome: ModelCallRecord["outcome"] = "aborted";
  try {
    await call.beforeCall?.();
    signal?.throwIfAborted();
    settle = source.breaker.acquire();
    for await (const chunk of wholeAnswer(source, call, account, settle)) {
      result.given = true;
      yield chunk;
    }
    outcome = "succeeded";
    yield account.closing(originOf(source, account, attempt + 1, fallback_from));
  } catch (error) {
    if (signal?.aborted || outcome === "succeeded") throw error;
    outcome = "failed";
    result.failure = readFailure(error, call.clock.now(), call.redact);
    settle?.(result.failure.outcome);
  } finally {
    // Whoever stopped reading has aborted the call; that says nothing about the provider.
    settle?.("ignored");
    record(source, call, { account, attempt, outcome, began, failure: result.failure });
  }
}

/**
 * The pieces of an answer that comes to its end and says something. Those that give nothing out (a protocol's opening, and
 * all of an answer that only calls tools) are kept back until one does, so that another attempt can be made.
 */
async function* wholeAnswer(
  source: ModelSource,
  call: Call,
  account: StreamAccount,
  settle: Settle,
): AsyncGenerator<ChatGenerationChunk> {
  const { timeouts, provider } = source;
  const open = (signal: AbortSignal) => openSource(source, call.messages, call.options, signal);
  let held: ChatGenerationChunk[] | undefined = [];
  for await (const piece of watchStream(open, { provider_id: provider.id, timeouts, signal: call.options.signal })) {
    const chunk = account.read(piece);
    if (held && !isVisible(chunk)) {
      held.push(chunk);
      continue;
    }
    if (held) yield* held;
    held = undefined;
    yield chunk;
  }
  // The SDKs end in silence when their signal aborts.
  call.options.signal?.throwIfAborted();
  if (account.ended === false) throw cutOff(provider.id);
  // The provider works, whatever it made of this question: what one caller asks must not open the breaker for all.
  settle("success");
  if (account.isEmpty) throw emptyAnswer(provider.id, account.end);
  if (held) yield* held;
}

function originOf(
  { provider, model }: ModelSource,
  account: StreamAccount,
  attempts: number,
  fallback_from: readonly string[],
): CallOrigin {
  return {
    provider_id: provider.id,
    provider: provider.provider,
    model: account.model ?? model,
    estimated: account.usage().estimated,
    attempts,
    fallback_from,
  };
}

interface Ended {
  readonly account: StreamAccount;
  readonly attempt: number;
  readonly outcome: ModelCallRecord["outcome"];
  readonly began: number;
  readonly failure: ModelFailure | undefined;
}

function record({ provider, model }: ModelSource, call: Call, ended: Ended): void {
  const { account, attempt, outcome, began, failure } = ended;
  const { counts, estimated } = account.usage();
  const origin = { provider_id: provider.id, provider: provider.provider, model: account.model ?? model, estimated };
  const known = outcome === "succeeded" || account.begun;
  call.onCall?.({
    provider_id: provider.id,
    model,
    attempt: attempt + 1,
    outcome,
    duration_ms: call.clock.now() - began,
    usage: known ? toCallUsage(origin, counts) : null,
    error: failure ?? null,
  });
}
