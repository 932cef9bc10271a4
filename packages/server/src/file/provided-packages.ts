import { registerHooks } from "node:module";

/** What tools, middleware and graphs are written with. The server's other packages are its own affair. */
const PROVIDED =
  /^(@cognition\/(server|thread)|@langchain\/(core|langgraph|langgraph-checkpoint)|deepagents|langchain|zod)(\/|$)/;

let provided = false;

/**
 * A workspace is a folder of files, mostly without a package.json: what its modules import and nobody has installed there
 * is found among the server's own packages. One that is installed comes first, as ever.
 */
export function providePackages(): void {
  if (provided) return;
  provided = true;
  registerHooks({
    resolve(specifier, context, nextResolve) {
      try {
        return nextResolve(specifier, context);
      } catch (error) {
        if (!PROVIDED.test(specifier) || !isAbsent(error)) throw error;
        return nextResolve(specifier, { ...context, parentURL: import.meta.url });
      }
    },
  });
}

function isAbsent(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND";
}
