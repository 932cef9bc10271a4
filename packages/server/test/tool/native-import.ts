import { compileFunction, constants } from "node:vm";

/** Node's own import. Vitest puts its own in place of every `import()` that it sees. */
export const nativeImport = compileFunction("return import(url)", ["url"], {
  importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
}) as (url: string) => Promise<unknown>;
