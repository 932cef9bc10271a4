import { existsSync, writeSync } from "node:fs";
import { type Command, misuse, numberOf } from "../command.ts";
import { CONFIG_HELP, CONFIG_OPTIONS, configOf } from "../config-flags.ts";
import type { Context } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { type OpenServer, openServer } from "../open-server.ts";
import { greeting } from "../terminal/greeting.ts";

export const command: Command = {
  usage: "[--host <address>] [--port <n>] [--storage <uri>]",
  arguments: [0, 0],
  options: { ...CONFIG_OPTIONS, "ready-fd": { type: "string" }, quiet: { type: "boolean" } },
  help: [
    "--quiet                  no greeting",
    "--ready-fd <n>           writes {url, port, pid} as a line of JSON to this file descriptor once requests are taken",
    ...CONFIG_HELP,
  ],
  async run(context, args) {
    const fd = numberOf(args, "ready-fd");
    const { config } = configOf(context, args);
    const isNew = !existsSync(config.workspace.root);
    const stop = watchSignals(context);
    // A database that does not answer may keep the start for long: the second signal does not wait for it.
    const opened = await Promise.race([openServer(context, config), stop.second]);
    if (!opened) return EXIT.interrupted;
    if (!args.flag("quiet")) context.output.write(await greeting(opened, { config, isNew, env: context.env, args }));
    if (fd !== undefined) await tellReady(fd, opened);
    await stop.first;
    return closeKindly(opened, stop.second);
  },
};

async function tellReady(fd: number, server: OpenServer): Promise<void> {
  try {
    writeSync(fd, `${JSON.stringify({ url: server.url, port: server.port, pid: process.pid })}\n`);
  } catch (cause) {
    await server.close();
    throw misuse(`--ready-fd ${fd} can't be written: ${cause instanceof Error ? cause.message : String(cause)}`);
  }
}

const STOPPING = "Stopping: running work goes on to its next step and is kept. Once more to stop at once.\n";

/** The second signal does not wait for what the first one began. */
async function closeKindly(server: OpenServer, second: Promise<void>): Promise<number> {
  const closed = server.close().then(() => EXIT.ok);
  return Promise.race([closed, second.then(() => EXIT.interrupted)]);
}

function watchSignals({ signals, errors }: Context): { readonly first: Promise<void>; readonly second: Promise<void> } {
  const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let stopping = false;
  const begin = () => {
    if (!stopping) errors.write(STOPPING);
    stopping = true;
    first.resolve();
  };
  const onSignal = () => {
    if (stopping) second.resolve();
    begin();
  };
  for (const signal of ["SIGINT", "SIGTERM"]) signals.on(signal, onSignal);
  // Never the second: a closed terminal is told of by the system and again by the shell, and nobody has lost his patience.
  signals.on("SIGHUP", begin);
  return { first: first.promise, second: second.promise };
}
