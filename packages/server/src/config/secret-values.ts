import type { Environment } from "../model/key-ring.ts";
import type { Config } from "./config-schema.ts";
import { valueAt } from "./layer.ts";
import { listOptions } from "./list-options.ts";

const NAMES_A_SECRET = /(KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)$/;

/** What is secret of an option that says more: a name or a path is in half of what a log tells. */
const SECRET_PART: Readonly<Record<string, (config: Config) => unknown>> = {
  "persistence.uri": ({ persistence: { uri } }) => (uri?.includes("://") ? uri : undefined),
  "tools.mcp": ({ tools }) => tools.mcp.map(({ url, args, env, headers }) => [url, args, env, headers]),
};

/** All values that must not be logged: secret keys of the configuration, and variables named like one. */
export function secretValues(config: Config, env: Environment): string[] {
  const configured = listOptions()
    .filter(({ secret }) => secret)
    .map(({ path }) => (SECRET_PART[path] ?? ((whole) => valueAt(whole, path.split("."))))(config));
  const fromEnvironment = Object.entries(env).flatMap(([name, value]) => (NAMES_A_SECRET.test(name) ? [value] : []));
  const texts = [...configured.flatMap(textsIn), ...fromEnvironment.flatMap(textsIn)];
  return texts.flatMap((text) => [text, ...passwordOf(text)]);
}

/** A secret may be a list of them, or stand under a name. */
function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

/** A driver's error may hold the password of an address without the rest of it. */
function passwordOf(text: string): string[] {
  if (!URL.canParse(text)) return [];
  const { password, searchParams } = new URL(text);
  return [password, ...decoded(password), ...searchParams.getAll("password")].filter((one) => one !== "");
}

/** Nothing where it has no other form: the storage refuses such an address, and this must not be first. */
function decoded(text: string): string[] {
  try {
    return [decodeURIComponent(text)];
  } catch {
    return [];
  }
}
