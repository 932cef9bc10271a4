import type { Config } from "@cognition/server/operator";
import type { Context } from "../context.ts";
import type { OpenServer } from "../open-server.ts";
import { VERSION } from "../version.ts";

/** What runs, where to go next, and what is missing before others use it. */
export async function greeting(
  { url, storage, runtime }: OpenServer,
  config: Config,
  env: Context["env"],
): Promise<string> {
  const { backend, capabilities } = runtime.sandboxes.describe();
  const { provider, model } = await runtime.models.select({});
  const offline = provider.provider === "offline";
  const isolated = capabilities.isolation !== "none";
  const gaps = [
    ...(storage.startsWith("postgres") ? [] : ["PostgreSQL for more than one node (COGNITION_PERSISTENCE_URI)"]),
    ...(isolated ? [] : ["a sandbox that isolates (COGNITION_SANDBOX_BACKEND=bubblewrap or docker)"]),
    ...(offline ? ["a model (OPENAI_API_KEY or ANTHROPIC_API_KEY)"] : []),
    ...(config.auth.mode === "none" ? ["authentication (COGNITION_AUTH_MODE=api_key)"] : []),
  ];
  const lines = [
    `Cognition ${VERSION} on ${url}`,
    `  storage  ${storage}`,
    `  sandbox  ${backend}${isolated ? "" : ": commands run as you"}`,
    `  model    ${offline ? "offline, for trying things out" : `${model} (${provider.id})`}`,
    `  docs     ${url}/docs`,
    `  try      curl -X POST ${url}/sessions -d '{"title": "Hello"}'`,
    "           then, with the id that it gives:",
    `           curl -N -X POST ${url}/sessions/<id>/messages -d '{"content": "List the files in this directory."}'`,
    `  or       ${chatCommand(env)} --url ${url}`,
    ...(gaps.length > 0 ? [`  missing for production: ${gaps.join("; ")}`] : []),
    "  Ctrl-C stops it. Nothing is lost: what runs goes on at the next start.",
  ];
  return `${lines.join("\n")}\n`;
}

/** As whoever started the server can type it: after `npm start` in the repository there is no program of that name. */
function chatCommand(env: Context["env"]): string {
  if (env["npm_lifecycle_event"] === "start") return "npm run chat --";
  return env["npm_command"] === "exec" ? "npx cognition chat" : "cognition chat";
}
