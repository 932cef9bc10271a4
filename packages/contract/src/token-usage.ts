import { z } from "zod";

/** `estimated_cost` is null where no price is known: zero would say that it was free. */
export const ModelUsage = z.strictObject({
  input_tokens: z.int().nonnegative(),
  output_tokens: z.int().nonnegative(),
  estimated_cost: z.number().nonnegative().nullable(),
});
export type ModelUsage = z.infer<typeof ModelUsage>;

/** Totals with the last model that answered; `estimated` where the provider reported no counts. */
export const TokenUsage = ModelUsage.extend({
  provider: z.string(),
  model: z.string(),
  by_model: z.record(z.string(), ModelUsage),
  estimated: z.boolean().optional(),
});
export type TokenUsage = z.infer<typeof TokenUsage>;
