import { AppError } from "@cognition/contract";
import type { SandboxCapabilities } from "./sandbox.ts";

/** Who can make this server run commands. */
export interface Exposure {
  readonly scoping: boolean;
  /** Whether it listens on this machine's own addresses only. */
  readonly loopback: boolean;
  /** Whether the configuration asks in so many words for a sandbox without isolation. */
  readonly allowUnisolated: boolean;
}

/**
 * Scopes promise that one user cannot see another's data, which a sandbox without isolation cannot keep: every command reads
 * what the server can. Returns warnings, or throws `invalid_config` where strangers could get at it.
 */
export function checkExposure({ backend, isolation }: SandboxCapabilities, exposure: Exposure | undefined): string[] {
  if (isolation !== "none" || !exposure?.scoping) return [];
  const reason = `Scoping is on, but commands in the ${backend} sandbox can read the data of every scope.`;
  if (exposure.loopback || exposure.allowUnisolated)
    return [`${reason} Use bubblewrap or docker before others use this server.`];
  throw new AppError(
    "invalid_config",
    `${reason} On an address that others can reach the server does not start like this: set COGNITION_SANDBOX_BACKEND to bubblewrap or docker, listen on 127.0.0.1, or set sandbox.allow_unisolated (COGNITION_SANDBOX_ALLOW_UNISOLATED).`,
    { details: { backend } },
  );
}
