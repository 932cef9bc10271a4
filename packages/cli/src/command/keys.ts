import type { ParseArgsOptionsConfig } from "node:util";
import { type ApiKey, AppError } from "@cognition/contract";
import { type ApiKeys, createApiKeys, storageSettings } from "@cognition/server/operator";
import { openStorage } from "@cognition/thread";
import { type Arguments, type Command, misuse, scopeOf } from "../command.ts";
import { CONFIG_HELP, CONFIG_OPTIONS, configOf } from "../config-flags.ts";
import type { Context } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { oneLine, printJson } from "../terminal/print.ts";
import { table } from "../terminal/table.ts";

const DAY_MS = 86_400_000;

/** What a new key is to be. */
const OF_NEW: ParseArgsOptionsConfig = {
  scope: { type: "string", multiple: true },
  "any-scope": { type: "boolean" },
  admin: { type: "boolean" },
  expires: { type: "string" },
};

export const command: Command = {
  usage: "create <name> [--scope <key>=<value>] [--admin] [--expires <days>d] | list | revoke <id or prefix>",
  arguments: [1, 2],
  options: { ...CONFIG_OPTIONS, ...OF_NEW, json: { type: "boolean" } },
  help: [
    "create <name>            prints the key, once; --scope binds it, --any-scope lets each request choose",
    "--admin                  the key may change what all scopes share",
    "--expires <days>d        such as 90d; never by default",
    "list                     which there are",
    "revoke <id or prefix>    from the next request on it is worth nothing",
    "--json                   for programs",
    ...CONFIG_HELP,
  ],
  async run(context, args) {
    const [action, what] = args.positionals;
    const act = actionOf(action);
    if (act !== create) refuseInVain(args);
    const { options } = storageSettings(configOf(context, args).config);
    const storage = await openStorage(options);
    try {
      await act({ context, args, what, keys: createApiKeys(storage.apiKeys) });
      return EXIT.ok;
    } finally {
      await storage.close();
    }
  },
};

interface Call {
  readonly context: Context;
  readonly args: Arguments;
  readonly what: string | undefined;
  readonly keys: ApiKeys;
}

function actionOf(action: string | undefined): (call: Call) => Promise<void> {
  if (action === "create") return create;
  if (action === "list") return list;
  if (action === "revoke") return revoke;
  throw misuse(`create, list or revoke, not "${action}"`);
}

/** Passed over in silence, `list --scope user=ann` would look like a list of that scope's keys. */
function refuseInVain(args: Arguments): void {
  const given = Object.keys(OF_NEW)
    .filter((name) => args.flag(name) || args.text(name) !== undefined || args.list(name).length > 0)
    .map((name) => `--${name}`);
  if (given.length > 0) throw misuse(`${given.join(", ")}: only beside create`);
}

async function create({ context, args, what, keys }: Call): Promise<void> {
  if (what === undefined) throw misuse("name the key: cognition keys create <name>");
  if (args.flag("any-scope") && args.list("scope").length > 0)
    throw misuse("--scope binds the key and --any-scope does not: give one of them");
  const scope = args.flag("any-scope") ? null : scopeOf(args);
  const made = await keys.create({ name: what, scope, admin: args.flag("admin"), expires_at: expiryOf(args) });
  if (args.flag("json")) printJson(context, made);
  else {
    context.output.write(`${made.key}\n`);
    context.errors.write("This is the only time the key is shown. Send it as X-API-Key or as a bearer token.\n");
  }
}

async function list({ context, args, what, keys }: Call): Promise<void> {
  if (what !== undefined) throw misuse(`there is no place for "${what}"`);
  const found = await keys.list();
  if (args.flag("json")) return printJson(context, { api_keys: found });
  const rows = found.map((key) => [
    key.prefix,
    stateOf(key),
    scopeText(key),
    key.created_at.slice(0, 10),
    oneLine(key.name, 40),
  ]);
  context.output.write(table(["KEY", "STATE", "SCOPE", "CREATED", "NAME"], rows));
}

async function revoke({ context, args, what, keys }: Call): Promise<void> {
  if (what === undefined) throw misuse("which one? `cognition keys list` shows them");
  const key = await keys.revoke(what);
  if (args.flag("json")) printJson(context, key);
  else context.output.write(`${key.prefix} (${oneLine(key.name, 40)}) is revoked.\n`);
}

function expiryOf(args: Arguments): string | null {
  const text = args.text("expires");
  if (text === undefined) return null;
  const days = /^(\d{1,5})d$/.exec(text)?.[1];
  if (days === undefined || Number(days) === 0)
    throw new AppError("validation_failed", `--expires must be like 90d, not "${text}"`);
  return new Date(Date.now() + Number(days) * DAY_MS).toISOString();
}

function stateOf({ revoked_at, expires_at, admin }: ApiKey): string {
  if (revoked_at) return "revoked";
  if (expires_at && Date.parse(expires_at) <= Date.now()) return "expired";
  return admin ? "admin" : "valid";
}

function scopeText({ scope }: ApiKey): string {
  if (scope === null) return "any";
  return (
    Object.entries(scope)
      .map((pair) => pair.join("="))
      .join(",") || "none"
  );
}
