import { AppError, type AuthMode } from "@cognition/contract";
import { isLoopback } from "./guard/known-host.ts";

/** Who can reach this server, and what the configuration asks for in so many words. */
export interface HttpExposure {
  /** The address or name it listens on. */
  readonly host: string;
  readonly auth: AuthMode;
  /** Whether the model that needs no key would answer, because no provider is configured. */
  readonly offlineModel: boolean;
  readonly allowUnauthenticated: boolean;
  readonly allowOfflineModel: boolean;
}

/** Returns warnings, or throws `invalid_config` where the server would be open to strangers by an oversight. */
export function checkHttpExposure(exposure: HttpExposure): string[] {
  if (isLoopback(exposure.host)) return [];
  const where = `The server is to listen on ${exposure.host}, which others can reach`;
  const warnings: string[] = [];
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
