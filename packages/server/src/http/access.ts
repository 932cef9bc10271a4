import type { AuthMode } from "@cognition/contract";
import type { RateLimit, Storage } from "@cognition/thread";
import { createAuthenticator } from "./auth/authenticator.ts";
import type { TokenOptions } from "./auth/token-authenticator.ts";
import { type ClientAddress, createClientAddress } from "./client-address.ts";
import { createCorsGuard } from "./guard/cors-guard.ts";
import { createFailureGuard } from "./guard/failure-guard.ts";
import { createOpenGuard } from "./guard/open-guard.ts";
import { createOriginGuard } from "./guard/origin-guard.ts";
import { createOriginList } from "./guard/origin-list.ts";
import { createRateGuard } from "./guard/rate-guard.ts";
import { createMemoryRateLimiter, createSharedRateLimiter } from "./guard/rate-limiter.ts";
import { createRequestLog, type RequestLogger } from "./guard/request-log.ts";
import { createSecurityHeaders } from "./guard/security-headers.ts";
import type { Authenticate, Guard } from "./guard.ts";

export interface AccessSettings {
  auth: AuthMode;
  jwt: TokenOptions;
  /** Where it listens. */
  host: string;
  /** Names of this server, besides addresses and loopback names. */
  hosts: readonly string[];
  /** Web origins whose pages may use it. */
  origins: readonly string[];
  /** Who may speak for a client: `X-Forwarded-For` of anybody else is not read. */
  trusted_proxies: readonly string[];
  /** Wrong credentials that one address may send; any number by default. */
  failures_per_minute?: number;
  /** Requests that one scope may have open at once; any number by default. */
  open?: number;
  rate?: RateLimit & { shared: boolean };
}

export interface AccessOptions {
  settings: AccessSettings;
  storage: Pick<Storage, "apiKeys" | "rateLimits">;
  log: RequestLogger;
  clock: () => Date;
  /** Milliseconds, never going back. */
  now: () => number;
  fetch: typeof fetch;
  onError: (error: unknown) => void;
}

/** What stands between the network and the routes. A setting that makes no sense stops here, before anything listens. */
export function createAccess(options: AccessOptions): {
  authenticate: Authenticate;
  clientAddress: ClientAddress;
  guards: Guard[];
} {
  const { settings, storage, log, clock, now, fetch, onError } = options;
  const { auth: mode, jwt, host, hosts } = settings;
  const origins = createOriginList(settings.origins);
  return {
    authenticate: createAuthenticator({ mode, jwt, apiKeys: storage.apiKeys, clock, fetch, onError }),
    clientAddress: createClientAddress(settings.trusted_proxies),
    guards: [
      createRequestLog({ log, now }),
      createOriginGuard({ host, hosts, origins }),
      createCorsGuard(origins),
      createSecurityHeaders(),
      ...failureGuards(options),
      ...(settings.open === undefined ? [] : [createOpenGuard(settings.open)]),
      ...rateGuards(options),
    ],
  };
}

function failureGuards({ settings: { failures_per_minute: per_minute }, now }: AccessOptions): Guard[] {
  return per_minute === undefined ? [] : [createFailureGuard({ per_minute, now })];
}

function rateGuards({ settings: { rate }, storage, now }: AccessOptions): Guard[] {
  if (!rate) return [];
  const limiter = rate.shared ? createSharedRateLimiter(rate, storage.rateLimits) : createMemoryRateLimiter(rate, now);
  return [createRateGuard(limiter)];
}
