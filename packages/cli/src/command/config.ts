import {
  type ConfigOption,
  describeOrigin,
  type LoadedConfig,
  listOptions,
  withoutPassword,
} from "@cognition/server/operator";
import { type Command, misuse } from "../command.ts";
import { CONFIG_HELP, CONFIG_OPTIONS, configOf } from "../config-flags.ts";
import { EXIT } from "../exit-code.ts";
import { printJson } from "../terminal/print.ts";
import { table } from "../terminal/table.ts";

interface Shown {
  readonly key: string;
  readonly value: unknown;
  readonly origin: string;
}

export const command: Command = {
  usage: "[<key>] [--json]",
  arguments: [0, 1],
  options: { ...CONFIG_OPTIONS, json: { type: "boolean" } },
  help: [
    "<key>                    only this key, or those below it",
    "--json                   for programs",
    ...CONFIG_HELP,
  ],
  async run(context, args) {
    const loaded = configOf(context, args);
    const [wanted] = args.positionals;
    const options = listOptions().filter(
      ({ path }) => wanted === undefined || path === wanted || path.startsWith(`${wanted}.`),
    );
    if (options.length === 0) throw misuse(`there is no key "${wanted}"`);
    const shown = options.map((option) => show(option, loaded));
    if (args.flag("json")) printJson(context, shown);
    else {
      const rows = shown.map(({ key, value, origin }) => [key, text(value), origin]);
      context.output.write(table(["KEY", "VALUE", "FROM"], rows));
    }
    return EXIT.ok;
  },
};

function show(option: ConfigOption, { config, origins }: LoadedConfig): Shown {
  const origin = describeOrigin(origins.get(option.path) ?? { from: "default" });
  const value = option.path.split(".").reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], config);
  return { key: option.path, value: value === undefined ? null : hide(option, value, origin), origin };
}

/** A default is no secret. An address is shown without its password, since which database it is matters. */
function hide({ secret }: ConfigOption, value: unknown, origin: string): unknown {
  if (origin === "default") return value;
  if (typeof value === "string" && /^[a-z0-9+]+:\/\/[^/]*@/i.test(value)) {
    return URL.canParse(value) ? withoutPassword(value) : "(hidden)";
  }
  if (!secret) return value;
  if (typeof value !== "string") return "(hidden)";
  return /^(\.{0,2}\/|sqlite:|memory|:memory:)|\.(db|sqlite3?)$/.test(value) ? value : "(hidden)";
}

function text(value: unknown): string {
  if (value === null) return "-";
  return typeof value === "string" ? value : JSON.stringify(value);
}
