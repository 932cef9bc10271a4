import type { Context } from "../context.ts";

/** As whoever started this can type it again: in the repository there is no program of that name. */
export function commandName(env: Context["env"]): string {
  if (env["npm_package_name"] === "cognition-workspace") return "npm run cognition --";
  return env["npm_command"] === "exec" ? "npx cognition" : "cognition";
}
