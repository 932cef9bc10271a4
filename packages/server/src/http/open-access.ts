import type { Storage } from "@cognition/thread";
import type { Config } from "../config/config-schema.ts";
import type { ModelRegistry } from "../model/model-registry.ts";
import { createAccess } from "./access.ts";
import { accessSettings } from "./access-settings.ts";
import { checkHttpExposure } from "./check-exposure.ts";
import type { ClientAddress } from "./client-address.ts";
import { isLoopback } from "./guard/known-host.ts";
import type { RequestLogger } from "./guard/request-log.ts";
import type { Authenticate, Guard } from "./guard.ts";

export interface OpenAccessOptions {
  config: Config;
  storage: Storage;
  models: Pick<ModelRegistry, "list">;
  log?: RequestLogger | undefined;
  onError: (error: unknown) => void;
}

export interface Access {
  authenticate: Authenticate;
  clientAddress: ClientAddress;
  guards: readonly Guard[];
  /** What whoever runs the server should know. */
  warnings: string[];
}

const NO_WALL =
  "The database user bypasses row level security and may not take the role cognition_request: scopes are kept apart by this program alone.";
const SILENT: RequestLogger = { debug: () => {}, info: () => {}, error: () => {} };

/** All that the configuration says of who may come in. Rejects where strangers could by an oversight. */
export async function openAccess({ config, storage, models, log, onError }: OpenAccessOptions): Promise<Access> {
  const warnings = [...(await exposureWarnings(config, models)), ...(await scopeWarnings(config, storage))];
  const access = createAccess({
    settings: accessSettings(config),
    storage,
    log: log ?? SILENT,
    clock: () => new Date(),
    now: () => performance.now(),
    fetch,
    onError,
  });
  return { ...access, warnings };
}

async function exposureWarnings({ server, auth, cors, models }: Config, registry: OpenAccessOptions["models"]) {
  const providers = isLoopback(server.host) ? [] : await registry.list({});
  return checkHttpExposure({
    host: server.host,
    auth: auth.mode,
    anyOrigin: cors.origins.includes("*"),
    allowUnauthenticated: auth.allow_unauthenticated,
    offlineModel: providers.some(({ provider, enabled }) => provider === "offline" && enabled),
    allowOfflineModel: models.offline === "on",
  });
}

async function scopeWarnings({ scoping }: Config, storage: Storage): Promise<string[]> {
  if (!scoping.enabled) return [];
  const { row_security } = await storage.healthCheck();
  return row_security === false ? [NO_WALL] : [];
}
