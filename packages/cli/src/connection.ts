import { existsSync } from "node:fs";
import type { ParseArgsOptionsConfig } from "node:util";
import { type Client, createClient } from "@cognition/client";
import { type Config, storageSettings } from "@cognition/server/operator";
import { type Arguments, misuse, scopeOf } from "./command.ts";
import { CONFIG_HELP, CONFIG_OPTIONS, configOf, SERVING, SERVING_HELP } from "./config-flags.ts";
import type { Context } from "./context.ts";
import { EXIT } from "./exit-code.ts";
import { again } from "./terminal/again.ts";

export interface Connection {
  readonly client: Client;
  /** Where the server is, in words. */
  readonly place: string;
  /** What the user types to do that there: without the secret that he may have given. */
  readonly again: (what: string) => string;
  close(): Promise<void>;
}

const CREDENTIALS: ParseArgsOptionsConfig = { key: { type: "string" }, token: { type: "string" } };

export const CONNECTION_OPTIONS: ParseArgsOptionsConfig = {
  ...CONFIG_OPTIONS,
  ...CREDENTIALS,
  url: { type: "string" },
  scope: { type: "string", multiple: true },
};

export const CONNECTION_HELP: readonly string[] = [
  "--url <address>          a server that runs already; without it, one of its own in this folder",
  "--key, --token           how to show who you are there",
  "--scope <key>=<value>    whom you stand for; may be repeated",
  ...CONFIG_HELP.filter((line) => line !== SERVING_HELP),
];

/**
 * A server to talk to: the one that is named, or one that lives as long as the command. Unless it is to work, that one leaves
 * alone what agents have not ended: whoever only looks must not set them going again.
 */
export async function connect(context: Context, args: Arguments, { works = false } = {}): Promise<Connection> {
  const url = args.text("url");
  const [key, token] = [args.text("key"), args.text("token")];
  const identity = { scope: scopeOf(args), ...(key && { apiKey: key }), ...(token && { token }) };
  refuseInVain(args, url);
  const typed = (what: string) => again(context.env, args, what);
  if (url !== undefined) {
    if (!/^https?:\/\/[^/]/i.test(url) || !URL.canParse(url))
      throw misuse(`--url must be an address such as http://127.0.0.1:8000, not "${url}"`);
    const client = createClient({ baseUrl: url, ...identity });
    return { client, place: url, again: typed, close: async () => {} };
  }
  const { config, origins } = configOf(context, args);
  // A person in a folder means the files in it, unless the configuration says otherwise.
  const isolation = origins.get("workspace.isolation")?.from === "default" ? "shared" : config.workspace.isolation;
  // Loaded only here: whoever talks to a server that runs already need not wait for the agent engine.
  const { openServer } = await import("./open-server.ts");
  const stored = works ? config : withoutMaking(config);
  const own = ownUse({ ...stored, workspace: { ...config.workspace, isolation } });
  const server = await openServer(context, own, { works });
  return {
    client: createClient({ baseUrl: server.url, ...identity }),
    place: config.workspace.root,
    again: typed,
    close: server.close,
  };
}

/** What would be passed over in silence: whoever gives it believes that he talks to another server, or as somebody else. */
function refuseInVain(args: Arguments, url: string | undefined): void {
  const refuse = (names: readonly string[], why: string) => {
    const given = names.filter((name) => args.text(name) !== undefined || args.list(name).length > 0);
    if (given.length > 0) throw misuse(`${given.map((name) => `--${name}`).join(", ")}: ${why}`);
  };
  if (url !== undefined) {
    refuse(Object.keys(CONFIG_OPTIONS), "not beside --url, which names a server that runs already");
    return;
  }
  refuse(Object.keys(CREDENTIALS), "only beside --url");
  refuse(SERVING, "only for `cognition serve`; a server that runs already is named with --url");
}

/** For a command that asks a server for something and ends. */
export async function withConnection(
  context: Context,
  args: Arguments,
  work: (connection: Connection) => Promise<void>,
): Promise<number> {
  const connection = await connect(context, args);
  try {
    await work(connection);
    return EXIT.ok;
  } finally {
    await connection.close();
  }
}

/** Whoever only looks makes no database where none is: he may be in another folder than he believes. */
function withoutMaking(config: Config): Config {
  const { state_database } = storageSettings(config);
  if (state_database === undefined || existsSync(state_database)) return config;
  const { uri, ...persistence } = config.persistence;
  return { ...config, persistence: { ...persistence, backend: "memory" } };
}

/** For this command alone: on loopback, on any free port, with no request log in between what the user reads. */
function ownUse(config: Config): Config {
  return {
    ...config,
    server: { ...config.server, host: "127.0.0.1", port: 0 },
    auth: { ...config.auth, mode: "none" },
    log: { ...config.log, level: "error" },
  };
}
