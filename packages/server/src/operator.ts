// What an operator's tools need: the package's second entry, which loads neither the agent engine nor the HTTP server.
export type { Config } from "./config/config-schema.ts";
export { type ConfigOption, listOptions } from "./config/list-options.ts";
export { describeOrigin, type Origin } from "./config/origin.ts";
export { storageSettings, withoutPassword } from "./config/storage-settings.ts";
export { type LoadConfigOptions, type LoadedConfig, loadConfig } from "./config.ts";
export { type ApiKeys, createApiKeys } from "./http/auth/api-keys.ts";
