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

const MISTAKES = [
  "invalid_config",
  "unknown_config_key",
  "unknown_backend",
  "unknown_provider",
  "validation_failed",
] as const;
const OUT_OF_REACH = ["server_unreachable", "storage_unavailable", "storage_busy", "sandbox_unavailable"] as const;

export function exitCodeOf(error: unknown): number {
  if (isAppError(error, ...MISTAKES)) return EXIT.usage;
  return isAppError(error, ...OUT_OF_REACH) ? EXIT.unavailable : EXIT.failed;
}
