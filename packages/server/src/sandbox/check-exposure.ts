import { AppError } from "@cognition/contract";
import type { SandboxCapabilities } from "./sandbox.ts";

/** Who can make this server run commands. */
export interface Exposure {
  readonly scoping: boolean;
  /** Whether it listens on this machine's own addresses only. */
  readonly loopback: boolean;
  /** Whether the configuration asks in so many words for commands or files that are not kept apart. */
  readonly allowUnisolated: boolean;
  /** Whether all sessions work in one folder. */
  readonly sharedFolder: boolean;
}

/** What lets a scope see what is another's. */
interface Risk {
  readonly reason: string;
  readonly remedy: string;
}

/**
 * Scopes promise that one user cannot see another's data, which neither a sandbox without isolation can keep, since every
 * command reads what the server can, nor one folder for all. Returns warnings, or throws `invalid_config` where strangers
 * could get at it.
 */
export function checkExposure(capabilities: SandboxCapabilities, exposure: Exposure | undefined): string[] {
  if (!exposure?.scoping) return [];
  const risks = risksOf(capabilities, exposure);
  if (exposure.loopback || exposure.allowUnisolated) {
    return risks.map(({ reason, remedy }) => `${reason} Set ${remedy} before others use this server.`);
  }
  const [first] = risks;
  if (!first) return [];
  throw new AppError(
    "invalid_config",
    `${first.reason} On an address that others can reach the server does not start like this: set ${first.remedy}, listen on 127.0.0.1, or set sandbox.allow_unisolated (COGNITION_SANDBOX_ALLOW_UNISOLATED).`,
    { details: { backend: capabilities.backend } },
  );
}

function risksOf({ backend, isolation }: SandboxCapabilities, { sharedFolder }: Exposure): Risk[] {
  const unisolated = {
    reason: `Scoping is on, but commands in the ${backend} sandbox can read the data of every scope.`,
    remedy: "COGNITION_SANDBOX_BACKEND to bubblewrap or docker",
  };
  const shared = {
    reason: "Scoping is on, but all sessions work in one folder, so each has the files of every scope.",
    remedy: "COGNITION_WORKSPACE_ISOLATION to session",
  };
  return [...(isolation === "none" ? [unisolated] : []), ...(sharedFolder ? [shared] : [])];
}
