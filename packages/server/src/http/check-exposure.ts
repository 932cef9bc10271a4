import { AppError, type AuthMode } from "@cognition/contract";
import { isLoopback } from "./guard/known-host.ts";

/** Who can reach this server, and what the configuration asks for in so many words. */
export interface HttpExposure {
  /** The address or name it listens on. */
  readonly host: string;
  readonly auth: AuthMode;
  /** Whether web pages of every origin may use it. */
  readonly anyOrigin: boolean;
  /** Whether the model that needs no key would answer, because no provider is configured. */
  readonly offlineModel: boolean;
  readonly allowUnauthenticated: boolean;
  readonly allowOfflineModel: boolean;
}

const ANY_PAGE =
  "Web pages of every origin may use this server (cors.origins is *), and it asks nobody who they are: any page that is open in a browser that reaches it can read everything and run commands. List the origins, or set auth.mode (COGNITION_AUTH_MODE).";

/** Returns warnings, or throws `invalid_config` where the server would be open to strangers by an oversight. */
export function checkHttpExposure(exposure: HttpExposure): string[] {
  const warnings = exposure.auth === "none" && exposure.anyOrigin ? [ANY_PAGE] : [];
  if (isLoopback(exposure.host)) return warnings;
  const where = `The server is to listen on ${exposure.host}, which others can reach`;
  if (exposure.auth === "none") {
    const risk = `${where}, without authentication: anyone there could read everything and run commands.`;
    if (!exposure.allowUnauthenticated) {
      throw refused(
        `${risk} Set auth.mode (COGNITION_AUTH_MODE) to api_key or jwt, listen on 127.0.0.1, or set auth.allow_unauthenticated (COGNITION_AUTH_ALLOW_UNAUTHENTICATED).`,
      );
    }
    warnings.push(risk);
  }
  if (exposure.offlineModel) {
    const risk = `${where}, with the offline model, which does what a message literally says and asks no provider.`;
    if (!exposure.allowOfflineModel) {
      throw refused(
        `${risk} Configure a provider, for example with OPENAI_API_KEY, or set models.offline (COGNITION_MODELS_OFFLINE) to on.`,
      );
    }
    warnings.push(risk);
  }
  return warnings;
}

function refused(message: string): AppError {
  return new AppError("invalid_config", `${message} Nothing was started.`);
}
