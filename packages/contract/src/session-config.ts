import { z } from "zod";
import { Id } from "./id.ts";
import {
  MAX_MAX_TOKENS,
  MAX_MODEL_NAME_LENGTH,
  MAX_NAME_LENGTH,
  MAX_RECURSION_LIMIT,
  MAX_SYSTEM_PROMPT_LENGTH,
  MAX_TEMPERATURE,
} from "./limits.ts";
import { text } from "./text.ts";

export const ModelName = text("model", MAX_MODEL_NAME_LENGTH, 1);

const temperatureRange = `temperature must be from 0 to ${MAX_TEMPERATURE}`;

const fields = {
  provider_id: Id,
  provider: text("provider", MAX_NAME_LENGTH, 1),
  model: ModelName,
  temperature: z.number().min(0, { error: temperatureRange }).max(MAX_TEMPERATURE, { error: temperatureRange }),
  max_tokens: z.int().min(1).max(MAX_MAX_TOKENS),
  recursion_limit: z.int().min(1).max(MAX_RECURSION_LIMIT),
  system_prompt: text("system_prompt", MAX_SYSTEM_PROMPT_LENGTH),
};

/** What a session overrides of its agent's and the server's settings. `provider_id` pins one configured provider. */
export const SessionConfig = z.strictObject(fields).partial();
export type SessionConfig = z.infer<typeof SessionConfig>;

/** Merged into the stored config; null takes an override away. */
export const SessionConfigPatch = z
  .strictObject({
    provider_id: fields.provider_id.nullable(),
    provider: fields.provider.nullable(),
    model: fields.model.nullable(),
    temperature: fields.temperature.nullable(),
    max_tokens: fields.max_tokens.nullable(),
    recursion_limit: fields.recursion_limit.nullable(),
    system_prompt: fields.system_prompt.nullable(),
  })
  .partial();
export type SessionConfigPatch = z.infer<typeof SessionConfigPatch>;
