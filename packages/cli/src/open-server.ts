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
        }
      },
    };
  } catch (error) {
    await Promise.all([telemetry.close(), storage.close()]);
    throw error;
  }
}
