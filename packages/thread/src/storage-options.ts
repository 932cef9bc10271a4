import { inspect } from "node:util";
import { AppError } from "@cognition/contract";
import type { OpenStorageOptions } from "./open-storage.ts";

const OPTIONS: Record<keyof OpenStorageOptions, true> = {
  backend: true,
  uri: true,
  workspace: true,
  pool: true,
  busy_timeout_ms: true,
  recent_events: true,
  migrate: true,
  onCommit: true,
  clock: true,
  ids: true,
  failpoint: true,
};

/**
 * What `openStorage` was given. A variable that holds nothing, or an option that is misspelt, must not be taken for the
 * default: the data would go into a file of this machine, and nobody would be told.
 */
export function storageOptions(given: readonly [] | readonly [unknown]): OpenStorageOptions {
  if (given.length === 0) return {};
  const options = typeof given[0] === "string" ? { uri: given[0] } : given[0];
  if (typeof options !== "object" || options === null || Array.isArray(options)) {
    throw invalid(`openStorage takes a URI or options, not ${inspect(options)}; without either it opens ${DEFAULT}`);
  }
  for (const name of Object.keys(options)) {
    if (!Object.hasOwn(OPTIONS, name)) {
      throw invalid(`openStorage has no option ${name}; it takes ${Object.keys(OPTIONS).join(", ")}`);
    }
  }
  if ("uri" in options && typeof options.uri !== "string") {
    throw invalid(
      `The storage's uri is ${inspect(options.uri, { depth: 0 })}, and must be a text; left out, it is ${DEFAULT}`,
    );
  }
  return options;
}

const DEFAULT = ".cognition/state.db";

function invalid(message: string): AppError {
  return new AppError("invalid_config", `${message}. Nothing was opened.`);
}
