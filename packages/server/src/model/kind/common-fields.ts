import type { ModelFields } from "../provider-kind.ts";

/** What the packages that are not shipped call alike; `maxTokensName` is each one's own word. */
export function commonFields(
  { model, parameters }: Pick<ModelFields, "model" | "parameters">,
  maxTokensName: string,
): Record<string, unknown> {
  return {
    model,
    maxRetries: 0,
    ...(parameters.temperature !== undefined && { temperature: parameters.temperature }),
    ...(parameters.max_tokens !== undefined && { [maxTokensName]: parameters.max_tokens }),
  };
}
