import type { ParseArgsOptionsConfig } from "node:util";
import { type LoadedConfig, loadConfig } from "@cognition/server/operator";
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

/** How a server listens and logs: of no use to one that is for a command alone. */
export const SERVING: readonly string[] = ["host", "port", "log-level"];

export const SERVING_HELP = SERVING.map((name) => `--${name}`).join(", ");

export const CONFIG_HELP: readonly string[] = [
  "--workspace <folder>     where .cognition/ and the agents' files are (.)",
  "--storage <uri>          a path, or postgresql://… (.cognition/state.db)",
  "--sandbox <backend>      local, bubblewrap or docker",
  SERVING_HELP,
  "--set <key>=<value>      any other key of the configuration",
];

export function configOf({ env, cwd, home }: Context, args: Arguments): LoadedConfig {
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
