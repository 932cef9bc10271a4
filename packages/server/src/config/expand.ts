import type { Environment } from "../model/key-ring.ts";

/** `$$` is a dollar sign; `${NAME}` must be set; `${NAME:-text}` takes the text where it is not set or empty. */
const PATTERN = /\$\$|\$\{([^}:]*)(?::-([^}]*))?(\}?)/g;
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

export function expand(text: string, env: Environment, fail: (problem: string) => Error): string {
  return text.replace(PATTERN, (all: string, name?: string, fallback?: string, end?: string) => {
    if (all === "$$") return "$";
    if (name === undefined || end !== "}" || !NAME.test(name)) {
      throw fail(`"${all}" is no variable: write \${NAME} or \${NAME:-default}, and $$ for a dollar sign`);
    }
    const value = env[name];
    if (fallback !== undefined) return value === undefined || value === "" ? fallback : value;
    if (value === undefined) {
      throw fail(`the variable ${name} is not set; set it, or give a default: \${${name}:-…}`);
    }
    return value;
  });
}
