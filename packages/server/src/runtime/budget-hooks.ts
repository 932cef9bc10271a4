import type { AIMessage, BaseMessage } from "@langchain/core/messages";
import type { ChatGenerationChunk, LLMResult } from "@langchain/core/outputs";
import type { BudgetHold, RunBudget } from "../budget/run-budget.ts";
import { estimateCost } from "../model/price-table.ts";
import { estimateMessageTokens, estimateTokens } from "../model/token-estimate.ts";
import { type CallUsage, unfinishedIn } from "../model/usage.ts";
import type { ModelHooks } from "./run-callbacks.ts";

interface Call {
  hold: BudgetHold;
  input_tokens: number;
  characters: number;
  provider: string;
  model: string;
  /** What attempts have used that did not come to their end. */
  unfinished: Spent;
}

interface Spent {
  tokens: number;
  cost: number | null;
}

const NOTHING: Spent = { tokens: 0, cost: 0 };

/** Reserved for an answer whose length nobody knows beforehand. */
const OUTPUT_TOKENS = 1_000;

/**
 * Around every model call of a run, its subagents' and a user's own graph's too: reserves before it, settles after it.
 * LangChain waits for it before it calls the model, which then finds its signal aborted where there was no room.
 */
export function createBudgetHooks(
  budget: RunBudget,
  usageOf: (message: AIMessage) => CallUsage | undefined,
): ModelHooks {
  const calls = new Map<string, Call>();

  async function settle(runId: string, spent: (call: Call) => Spent): Promise<void> {
    const call = calls.get(runId);
    calls.delete(runId);
    if (call) await budget.settle(call.hold, add(call.unfinished, spent(call)));
  }

  return {
    handleChatModelStart: async (_llm, messages, runId, _parent, extra, _tags, metadata) => {
      const input_tokens = estimateMessageTokens(messages.flat());
      const { provider, model } = modelOf(extra, metadata);
      const output_tokens = OUTPUT_TOKENS;
      const cost = estimateCost({ provider, model, input_tokens, output_tokens }) ?? 0;
      const hold = await budget.reserve({ tokens: input_tokens + output_tokens, cost });
      if (hold) calls.set(runId, { hold, input_tokens, characters: 0, provider, model, unfinished: NOTHING });
    },
    handleLLMNewToken: (token, _index, runId, _parent, _tags, fields) => {
      const call = calls.get(runId);
      if (!call) return;
      call.characters += token.length;
      const unfinished = unfinishedIn((fields?.chunk as ChatGenerationChunk | undefined)?.message);
      for (const used of unfinished) call.unfinished = add(call.unfinished, spentIn(used));
    },
    handleLLMEnd: (output, runId) => settle(runId, (call) => spentBy(output, call, usageOf)),
    // What had begun to answer is paid for; what had not was most likely never begun. A model of ours has told it.
    handleLLMError: (_error, runId) =>
      settle(runId, (call) => (call.characters > 0 && call.unfinished.tokens === 0 ? estimated(call) : NOTHING)),
  };
}

function modelOf(extra: Record<string, unknown> | undefined, metadata: Record<string, unknown> | undefined) {
  const asked = (extra?.["invocation_params"] ?? {}) as { provider?: unknown; model?: unknown };
  const provider = asked.provider ?? metadata?.["ls_provider"];
  const model = asked.model ?? metadata?.["ls_model_name"];
  return { provider: String(provider ?? ""), model: String(model ?? "") };
}

function spentBy(output: LLMResult, call: Call, usageOf: (message: AIMessage) => CallUsage | undefined) {
  const { message } = (output.generations[0]?.[0] ?? {}) as { message?: BaseMessage };
  const used = message && usageOf(message as AIMessage);
  if (!used) return estimated(call);
  return spentIn(used);
}

function spentIn({ input_tokens, output_tokens, estimated_cost: cost }: CallUsage): Spent {
  return { tokens: input_tokens + output_tokens, cost };
}

function add(a: Spent, b: Spent): Spent {
  return { tokens: a.tokens + b.tokens, cost: a.cost === null || b.cost === null ? null : a.cost + b.cost };
}

function estimated({ input_tokens, characters, provider, model }: Call) {
  const output_tokens = estimateTokens(" ".repeat(characters));
  return { tokens: input_tokens + output_tokens, cost: estimateCost({ provider, model, input_tokens, output_tokens }) };
}
