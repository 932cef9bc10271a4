import { scopeHeader } from "@cognition/contract";
import type { Config } from "@cognition/server/operator";
import type { Context } from "../context.ts";
import type { OpenServer } from "../open-server.ts";
import { VERSION } from "../version.ts";

export interface GreetingOptions {
  config: Config;
  /** The workspace was not there before: whoever misspelt its name should see it. */
  isNew: boolean;
  env: Context["env"];
}

/** What runs, where to go next, and what is missing before others use it. */
export async function greeting(
  { url, storage, runtime }: OpenServer,
  { config, isNew, env }: GreetingOptions,
): Promise<string> {
  const { backend, capabilities } = runtime.sandboxes.describe();
  const { provider, model } = await runtime.models.select({});
  const offline = provider.provider === "offline";
  const who = identityIn(config);
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
    ...(isNew ? [`  folder   ${config.workspace.root}, which was not there and was made`] : []),
    `  sandbox  ${backend}${isolated ? "" : ": commands run as you"}`,
    `  model    ${offline ? "offline, for trying things out" : `${model} (${provider.id})`}`,
    ...(config.server.page ? [`  chat     open ${url} in a browser`] : []),
    `  docs     ${url}/docs`,
    ...(config.auth.mode === "api_key" ? [`  a key    ${commandName(env)} keys create <name>`] : []),
    `  try      curl -X POST${who.headers} ${url}/sessions -d '{"title": "Hello"}'`,
    "           then, with the id that it gives:",
    `           curl -N -X POST${who.headers} ${url}/sessions/<id>/messages -d '{"content": "List the files in this directory."}'`,
    `  or       ${chatCommand(env)} --url ${url}${who.flags}`,
    ...(gaps.length > 0 ? [`  missing for production: ${gaps.join("; ")}`] : []),
    "  Ctrl-C stops it. Nothing is lost: what runs goes on at the next start.",
  ];
  return `${lines.join("\n")}\n`;
}

/** As whoever started the server can type it: after `npm start` in the repository there is no program of that name. */
function chatCommand(env: Context["env"]): string {
  return env["npm_lifecycle_event"] === "start" ? "npm run chat --" : `${commandName(env)} chat`;
}

function commandName(env: Context["env"]): string {
  if (env["npm_lifecycle_event"] === "start") return "npm run cognition --";
  return env["npm_command"] === "exec" ? "npx cognition" : "cognition";
}

/** What a caller must show to be let in, as curl and as the chat take it. */
function identityIn({ auth, scoping }: Config): { readonly headers: string; readonly flags: string } {
  if (auth.mode === "api_key") return { headers: " -H 'X-API-Key: <key>'", flags: " --key <key>" };
  if (auth.mode === "jwt") return { headers: " -H 'Authorization: Bearer <token>'", flags: " --token <token>" };
  const keys = scoping.enabled ? scoping.keys : [];
  return {
    headers: keys.map((key) => ` -H '${scopeHeader(key)}: <${key}>'`).join(""),
    flags: keys.map((key) => ` --scope ${key}=<${key}>`).join(""),
  };
}
