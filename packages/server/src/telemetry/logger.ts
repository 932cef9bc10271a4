import type { LogFormat, LogLevel } from "@cognition/contract";
import pino from "pino";
import { consoleLine } from "./console-line.ts";
import { createScrubber } from "./scrub.ts";

export type Logger = pino.Logger;

export interface LoggerOptions {
  level: LogLevel;
  format: LogFormat;
  write: (line: string) => void;
  /** Values that must not be in any line: keys of providers, passwords, signing secrets. */
  secrets: readonly string[];
}

/** Every line is scrubbed as a whole, so that a secret inside an error's text or a URL is found as well. */
export function createLogger({ level, format, write, secrets }: LoggerOptions): Logger {
  const scrub = createScrubber(secrets);
  const print = format === "json" ? scrub : (line: string) => consoleLine(scrub(line));
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { error: pino.stdSerializers.errWithCause },
    },
    { write: (line) => write(print(line)) },
  );
}
