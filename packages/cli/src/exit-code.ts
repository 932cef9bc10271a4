import { isAppError } from "@cognition/contract";

/** What a command tells the shell. */
export const EXIT = {
  ok: 0,
  /** It was tried and failed. */
  failed: 1,
  /** The command line or the configuration is wrong: nothing was tried. */
  usage: 2,
  /** A server, a database or a sandbox can't be reached. */
  unavailable: 3,
  /** Ctrl-C, as shells have it. */
  interrupted: 130,
} as const;

export function exitCodeOf(error: unknown): number {
  if (isAppError(error, "invalid_config", "unknown_config_key", "unknown_backend", "validation_failed"))
    return EXIT.usage;
  if (isAppError(error, "server_unreachable", "storage_unavailable", "storage_busy", "sandbox_unavailable")) {
    return EXIT.unavailable;
  }
  return EXIT.failed;
}
