import { z } from "zod";
import { DefinitionSource } from "./agent.ts";
import { ErrorInfo } from "./error.ts";
import { Id, idempotent } from "./id.ts";
import { StringMap } from "./json.ts";
import { MAX_NAME_LENGTH, MAX_TITLE_LENGTH, MAX_URL_LENGTH } from "./limits.ts";
import { offsetInfo, offsets } from "./page.ts";
import { ModelName } from "./session-config.ts";
import { text } from "./text.ts";

/** The key itself never leaves the server: `api_key_env` names its variable, `has_key` tells whether it is set. */
export const Provider = z.strictObject({
  id: z.string(),
  provider: z.string(),
  display_name: z.string().nullable(),
  model: z.string().nullable(),
  enabled: z.boolean(),
  priority: z.int(),
  base_url: z.string().nullable(),
  api_key_env: z.string().nullable(),
  has_key: z.boolean(),
  max_retries: z.int().nonnegative(),
  timeout_ms: z.int().positive(),
  scope: StringMap,
  source: DefinitionSource,
});
export type Provider = z.infer<typeof Provider>;

/** What stands there is shown to whoever lists providers, and nothing is ever sent to such an address. */
const WITH_USER = /^https?:[/\\]*[^/\\?#]*@/i;

const fields = {
  provider: text("provider", MAX_NAME_LENGTH, 1),
  display_name: text("display_name", MAX_TITLE_LENGTH).nullable(),
  model: ModelName.nullable(),
  enabled: z.boolean(),
  priority: z.int().min(0).max(1_000_000),
  base_url: z
    .url({ protocol: /^https?$/ })
    .max(MAX_URL_LENGTH)
    .refine((url) => !WITH_USER.test(url), {
      error: "base_url must not hold a user name or a password; api_key_env names the variable of a key",
    })
    .nullable(),
  api_key_env: z
    .string()
    .regex(/^[A-Z][A-Z0-9_]{0,127}$/, { error: "api_key_env must be the name of an environment variable" })
    .nullable(),
  max_retries: z.int().min(0).max(20),
  timeout_ms: z.int().min(100).max(3_600_000),
};

/** Every URL parser takes such a part of a path for a step: nobody could ask for that provider, nor ever remove it. */
const STEP = /^\.\.?$/;

/** The provider with the lowest `priority` number is tried first. */
export const CreateProvider = z.strictObject({
  id: Id.refine((id) => !STEP.test(id), { error: "id must not be . or .., which no address can name" }),
  provider: fields.provider,
  display_name: fields.display_name.default(null),
  model: fields.model.default(null),
  enabled: fields.enabled.default(true),
  priority: fields.priority.default(100),
  base_url: fields.base_url.default(null),
  api_key_env: fields.api_key_env.default(null),
  max_retries: fields.max_retries.default(2),
  timeout_ms: fields.timeout_ms.default(60_000),
  ...idempotent,
});
export type CreateProvider = z.infer<typeof CreateProvider>;
export type CreateProviderInput = z.input<typeof CreateProvider>;

export const UpdateProvider = z.strictObject(fields).partial();
export type UpdateProvider = z.infer<typeof UpdateProvider>;

export const ListProviders = z.strictObject({ ...offsets });
export type ListProviders = z.infer<typeof ListProviders>;

export const ProviderPage = z.strictObject({ providers: z.array(Provider), ...offsetInfo });
export type ProviderPage = z.infer<typeof ProviderPage>;

export const ProviderTest = z.strictObject({
  ok: z.boolean(),
  model: z.string().nullable(),
  latency_ms: z.number().nonnegative().nullable(),
  error: ErrorInfo.nullable(),
});
export type ProviderTest = z.infer<typeof ProviderTest>;

/** Prices are per million tokens, null where unknown. */
export const Model = z.strictObject({
  id: z.string(),
  provider_id: z.string(),
  provider: z.string(),
  context_window: z.int().positive().nullable(),
  max_output_tokens: z.int().positive().nullable(),
  input_price: z.number().nonnegative().nullable(),
  output_price: z.number().nonnegative().nullable(),
});
export type Model = z.infer<typeof Model>;

export const ListModels = z.strictObject({ ...offsets, provider_id: Id.optional() });
export type ListModels = z.infer<typeof ListModels>;

export const ModelPage = z.strictObject({ models: z.array(Model), ...offsetInfo });
export type ModelPage = z.infer<typeof ModelPage>;
