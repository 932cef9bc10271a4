import type { Config } from "../config/config-schema.ts";
import { secretValues } from "../config/secret-values.ts";
import type { Environment } from "../model/key-ring.ts";
import { createLogger, type Logger } from "./logger.ts";

export interface ServerLogOptions {
  config: Config;
  env: Environment;
  output: { write(line: string): unknown; readonly isTTY?: boolean };
}

/** As the configuration says; where it leaves it open, for people on a terminal and as JSON elsewhere. */
export function createServerLog({ config, env, output }: ServerLogOptions): Logger {
  const { level, format = output.isTTY ? "console" : "json" } = config.log;
  return createLogger({ level, format, write: (line) => output.write(line), secrets: secretValues(config, env) });
}
