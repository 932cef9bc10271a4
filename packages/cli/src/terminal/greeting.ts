import { isAppError, scopeHeader } from "@cognition/contract";
import type { Config } from "@cognition/server/operator";
import type { Arguments } from "../command.ts";
import type { Context } from "../context.ts";
import type { OpenServer } from "../open-server.ts";
import { VERSION } from "../version.ts";
import { again } from "./again.ts";
import { commandName } from "./command-name.ts";

export interface GreetingOptions {
  config: Config;
  /** The workspace was not there before: whoever misspelt its name should see it. */
  isNew: boolean;
  env: Context["env"];
  args: Arguments;
}

/** What runs, where to go next, and what is missing before others use it. */
export async function greeting(
  { url, storage, runtime }: OpenServer,
  { config, isNew, env, args }: GreetingOptions,
): Promise<string> {
  const { backend, capabilities } = runtime.sandboxes.describe();
  const answering = await answeringModel(runtime);
  const who = identityIn(config);
  const createKey = `keys create <name>${scopeFlags(config.scoping)}`;
  const isolated = capabilities.isolation !== "none";
  const gaps = [
    ...(storage.startsWith("postgres") ? [] : ["PostgreSQL for more than one node (COGNITION_PERSISTENCE_URI)"]),
    ...(isolated ? [] : ["a sandbox that isolates (COGNITION_SANDBOX_BACKEND=bubblewrap or docker)"]),
    ...(answering.isReal ? [] : ["a model (OPENAI_API_KEY or ANTHROPIC_API_KEY)"]),
    ...(config.auth.mode === "none" ? ["authentication (COGNITION_AUTH_MODE=api_key)"] : []),
  ];
  const lines = [
    `Cognition ${VERSION} on ${url}`,
    `  storage  ${storage}`,
    ...(isNew ? [`  folder   ${config.workspace.root}, which was not there and was made`] : []),
    `  sandbox  ${backend}${isolated ? "" : ": commands run as you"}`,
    `  model    ${answering.name}`,
    ...(config.server.page ? [`  chat     open ${url} in a browser`] : []),
    `  docs     ${url}/docs`,
    ...(config.auth.mode === "api_key" ? [`  a key    ${again(env, args, createKey)}`] : []),
    `  try      curl -X POST${who.headers} ${url}/sessions -d '{"title": "Hello"}'`,
    "           then, with the id that it gives:",
    `           curl -N -X POST${who.headers} ${url}/sessions/<id>/messages -d '{"content": "List the files in this directory."}'`,
    `  or       ${commandName(env)} chat --url ${url}${who.flags}`,
    ...(gaps.length > 0 ? [`  missing for production: ${gaps.join("; ")}`] : []),
    `  Ctrl-C stops it. ${storage.startsWith("memory") ? "All of it is lost then" : "Nothing is lost: what runs goes on at the next start"}.`,
  ];
  return `${lines.join("\n")}\n`;
}

/** A server without a model is one all the same: a provider can be made or enabled through its API. */
async function answeringModel({ models }: OpenServer["runtime"]): Promise<{ name: string; isReal: boolean }> {
  try {
    const { provider, model } = await models.select({});
    const isReal = provider.provider !== "offline";
    return { isReal, name: isReal ? `${model} (${provider.id})` : "offline, for trying things out" };
  } catch (error) {
    if (!isAppError(error)) throw error;
    return { isReal: false, name: `none: ${error.message}` };
  }
}

/** What a caller must show to be let in, as curl and as the chat take it. */
function identityIn({ auth, scoping }: Config): { readonly headers: string; readonly flags: string } {
  if (auth.mode === "api_key") return { headers: " -H 'X-API-Key: <key>'", flags: " --key <key>" };
  if (auth.mode === "jwt") return { headers: " -H 'Authorization: Bearer <token>'", flags: " --token <token>" };
  const keys = scoping.enabled ? scoping.keys : [];
  return {
    headers: keys.map((key) => ` -H '${scopeHeader(key)}: <${key}>'`).join(""),
    flags: scopeFlags(scoping),
  };
}

/** With scoping on, a key that is bound to no scope is refused everywhere. */
function scopeFlags({ enabled, keys }: Config["scoping"]): string {
  return enabled ? keys.map((key) => ` --scope ${key}=<${key}>`).join("") : "";
}
