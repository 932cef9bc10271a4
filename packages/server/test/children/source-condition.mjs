import { registerHooks } from "node:module";

// `--conditions=source` would hold for every package, and some that are installed have TypeScript under that name, which
// Node does not run below node_modules.
registerHooks({
  resolve(specifier, context, next) {
    const own = specifier.startsWith("@cognition/");
    return next(specifier, own ? { ...context, conditions: [...context.conditions, "source"] } : context);
  },
});
