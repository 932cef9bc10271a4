import { statSync } from "node:fs";
import type { ParseArgsOptionsConfig } from "node:util";
import { AppError } from "@cognition/contract";
import { describeOrigin, type LoadedConfig, loadConfig } from "@cognition/server/operator";
import { type Arguments, misuse } from "./command.ts";
import type { Context } from "./context.ts";

/** Flags that go over everything else, and the keys that they set. */
const FLAGS: Readonly<Record<string, string>> = {
  host: "server.host",
  port: "server.port",
  workspace: "workspace.root",
  storage: "persistence.uri",
  sandbox: "sandbox.backend",
  "log-level": "log.level",
};

export const CONFIG_OPTIONS: ParseArgsOptionsConfig = {
  ...Object.fromEntries(Object.keys(FLAGS).map((name) => [name, { type: "string" as const }])),
  set: { type: "string", multiple: true },
};

export const CONFIG_HELP: readonly string[] = [
  "--workspace <folder>     where .cognition/ and the agents' files are (.)",
  "--storage <uri>          a path, or postgresql://… (.cognition/state.db)",
  "--sandbox <backend>      local, bubblewrap or docker",
  "--host, --port, --log-level",
  "--set <key>=<value>      any other key of the configuration",
];

/** What is in force, for a command that works with it. */
export function configOf(context: Context, args: Arguments): LoadedConfig {
  const loaded = readConfig(context, args);
  const { root } = loaded.config.workspace;
  if (statSync(root, { throwIfNoEntry: false })?.isDirectory()) return loaded;
  const place = describeOrigin(loaded.origins.get("workspace.root") ?? { from: "default" });
  // Made, it would be an empty workspace with a database of its own, wherever a name was misspelt.
  const message = `${place}: there is no folder ${root}. Make it, or name another. Nothing was started.`;
  throw new AppError("invalid_config", message);
}

export function readConfig({ env, cwd, home }: Context, args: Arguments): LoadedConfig {
  const flags: Record<string, { flag: string; text: string }> = {};
  for (const [name, path] of Object.entries(FLAGS)) {
    const text = args.text(name);
    if (text !== undefined) flags[path] = { flag: `--${name}`, text };
  }
  for (const pair of args.list("set")) {
    const at = pair.indexOf("=");
    if (at < 1) throw misuse(`--set must be key=value, not "${pair}"`);
    flags[pair.slice(0, at)] = { flag: `--set ${pair.slice(0, at)}`, text: pair.slice(at + 1) };
  }
  return loadConfig({ env, cwd, home, flags });
}
