import { hostname } from "node:os";
import {
  createServerLog,
  createTelemetry,
  type RunningServer,
  type StartServerOptions,
  startServer,
} from "@cognition/server";
import { type Config, storageSettings } from "@cognition/server/operator";
import { openStorage } from "@cognition/thread";
import type { Context } from "./context.ts";
import { EXIT } from "./exit-code.ts";
import { loadPage } from "./load-page.ts";

export interface OpenServer {
  readonly url: string;
  readonly port: number;
  readonly runtime: RunningServer["runtime"];
  /** In words, without a password. */
  readonly storage: string;
  close(): Promise<void>;
}

/** The storage and a server on it, both gone with `close`. */
export async function openServer(
  context: Context,
  config: Config,
  { works = true }: Pick<StartServerOptions, "works"> = {},
): Promise<OpenServer> {
  const { options, state_database, place } = storageSettings(config);
  const log = createServerLog({ config, env: context.env, output: context.errors });
  const telemetry = await createTelemetry(config, { process: true });
  const storage = await openStorage({ ...options, onCommit: telemetry.metrics.commit });
  const unwatch = watchFaults(context, log);
  try {
    const server = await startServer({
      storage,
      workspace_root: config.workspace.root,
      env: context.env,
      config,
      works,
      engine: { owner: `${hostname()}:${process.pid}` },
      ...(state_database && { state_database }),
      log,
      telemetry,
      page: loadPage,
      onError: (error, run_id) => log.error({ error, ...(run_id !== "" && { run_id }) }, "something failed"),
    });
    return {
      url: server.url,
      port: server.port,
      runtime: server.runtime,
      storage: place,
      close: async () => {
        try {
          await server.close();
        } finally {
          await Promise.all([telemetry.close(), storage.close()]);
          unwatch();
        }
      },
    };
  } catch (error) {
    await Promise.all([telemetry.close(), storage.close()]);
    unwatch();
    throw error;
  }
}

type ServerLog = ReturnType<typeof createServerLog>;

/**
 * A promise of a tool file that fails where nobody waits for it has broken nothing else: the server and its runs go on. What was
 * thrown and caught by nobody may have left anything half done: the process ends, and its runs go on where they stand when it
 * is started again. Node would end it for both, and print the error with whatever secret is in it.
 */
function watchFaults({ signals, exit }: Context, log: ServerLog): () => void {
  const onRejection = (error: unknown) => log.error({ error }, "a promise failed that nobody waited for");
  const onException = (error: unknown) => {
    log.fatal({ error }, "an error was caught by nobody: the process ends");
    exit(EXIT.failed);
  };
  signals.on("unhandledRejection", onRejection).on("uncaughtException", onException);
  return () => void signals.off("unhandledRejection", onRejection).off("uncaughtException", onException);
}
