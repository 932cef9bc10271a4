import { registerHooks } from "node:module";
import { pathToFileURL } from "node:url";
import { OFFICIAL_FOLDER } from "./official-packages.ts";

/**
 * Loaded before a child that runs an official saver. The packages the benchmark's own files name then come from the
 * cache folder: with two copies of LangChain in one process, `instanceof` would fail between them.
 */
const bench = new URL(".", import.meta.url).href;
const cache = pathToFileURL(`${OFFICIAL_FOLDER}/package.json`).href;

registerHooks({
  resolve: (specifier, context, next) => {
    const isPackage = !/^(\.|\/|node:|file:)/.test(specifier);
    return next(
      specifier,
      isPackage && context.parentURL?.startsWith(bench) ? { ...context, parentURL: cache } : context,
    );
  },
});
