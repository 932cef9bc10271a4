export { type ComposeOptions, compose, type Runtime } from "./compose.ts";
export { type ApiKeys, createApiKeys } from "./http/auth/api-keys.ts";
export type { RunEngine, Submission } from "./run/run-engine.ts";
export type { RunInput } from "./run/run-input.ts";
export type * from "./sandbox/sandbox.ts";
export { defineTool } from "./tool/define-tool.ts";
export type * from "./tool/tool.ts";
export { describeTool } from "./tool/tool-registry.ts";
