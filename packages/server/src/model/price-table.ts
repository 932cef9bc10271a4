/** US dollars per million tokens. */
export interface Price {
  readonly input: number;
  readonly output: number;
  readonly cache_read: number;
  /** Null where the provider does not charge for it. */
  readonly cache_write: number | null;
}

export interface PriceList {
  readonly provider: string;
  readonly source: string;
  /** When the source said so. Prices move: an older date is a reason to look. */
  readonly as_of: string;
  readonly models: Readonly<Record<string, Price>>;
}

function openai(input: number, cache_read: number, output: number): Price {
  return { input, output, cache_read, cache_write: null };
}

// Anthropic charges a quarter more for writing its five-minute cache, and a tenth for reading it.
function anthropic(input: number, output: number, cache_read = input / 10): Price {
  return { input, output, cache_read, cache_write: input * 1.25 };
}

/** Standard tier, short context. Batch, priority and long-context prices differ, so a cost is always an estimate. */
export const PRICE_LISTS: readonly PriceList[] = [
  {
    provider: "openai",
    source: "https://developers.openai.com/api/docs/pricing",
    as_of: "2026-06",
    models: {
      "gpt-5.5": openai(5, 0.5, 30),
      "gpt-5.4": openai(2.5, 0.25, 15),
      "gpt-5.4-mini": openai(0.75, 0.075, 4.5),
      "gpt-5.4-nano": openai(0.2, 0.02, 1.25),
      "gpt-5.2": openai(1.75, 0.175, 14),
      "gpt-5": openai(1.25, 0.125, 10),
      "gpt-5-mini": openai(0.25, 0.025, 2),
      "gpt-4.1": openai(2, 0.5, 8),
      "gpt-4o": openai(2.5, 1.25, 10),
      "gpt-4o-mini": openai(0.15, 0.075, 0.6),
    },
  },
  {
    provider: "anthropic",
    source: "https://platform.claude.com/docs/en/about-claude/pricing",
    as_of: "2026-10",
    models: {
      "claude-fable-5-1": anthropic(10, 50, 0.25),
      "claude-fable-5": anthropic(10, 50),
      "claude-opus-5": anthropic(5, 25),
      "claude-opus-4-8": anthropic(5, 25),
      "claude-opus-4-7": anthropic(5, 25),
      "claude-opus-4-6": anthropic(5, 25),
      "claude-opus-4-5": anthropic(5, 25),
      "claude-opus-4-1": anthropic(15, 75),
      "claude-sonnet-5": anthropic(2, 10),
      "claude-sonnet-4-6": anthropic(3, 15),
      "claude-sonnet-4-5": anthropic(3, 15),
      "claude-haiku-4-5": anthropic(1, 5),
    },
  },
];

const FREE: Price = { input: 0, output: 0, cache_read: 0, cache_write: 0 };
const DATED = /-(\d{8}|\d{4}-\d{2}-\d{2})$/;

/** A dated snapshot costs what its alias does. Undefined where the table knows nothing. */
export function findPrice(provider: string, model: string): Price | undefined {
  if (provider === "offline") return FREE;
  const models = PRICE_LISTS.find((list) => list.provider === provider)?.models;
  const name = model.replace(DATED, "");
  return models && Object.hasOwn(models, name) ? models[name] : undefined;
}

export interface PricedTokens {
  readonly provider: string;
  readonly model: string;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cache_read_tokens?: number;
  readonly cache_creation_tokens?: number;
}

/** US dollars, or null where the price is unknown: zero would say that it was free. */
export function estimateCost(usage: PricedTokens): number | null {
  const price = findPrice(usage.provider, usage.model);
  if (!price) return null;
  const read = usage.cache_read_tokens ?? 0;
  const written = price.cache_write === null ? 0 : (usage.cache_creation_tokens ?? 0);
  const fresh = Math.max(0, usage.input_tokens - read - written);
  const cost =
    fresh * price.input +
    read * price.cache_read +
    written * (price.cache_write ?? 0) +
    usage.output_tokens * price.output;
  return cost / 1_000_000;
}
